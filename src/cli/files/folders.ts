import { existsSync, mkdirSync, mkdtempSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/**
 * Makes a folder where there is none, with those above it, one at a time. Node’s own way tries again for ever where the system says that what
 * is above is not there, and has it, as it does below `/proc`.
 *
 * @throws what the system throws
 */
export function makeFolder(path: string): void {
  const lacking: string[] = [];
  for (let at = resolve(path); !existsSync(at); at = dirname(at)) lacking.unshift(at);
  for (const folder of lacking) makeOne(folder);
  if (!statSync(path).isDirectory()) throw Object.assign(new Error(`${path} is a file`), { code: 'EEXIST' });
}

/** What somebody else has made meanwhile is made. */
function makeOne(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !existsSync(folder)) throw error;
  }
}

/** That something can be written into a folder, by doing so: what its mode says is not what a system lets its root do. @throws what the system throws */
export function requireWritable(folder: string): void {
  rmdirSync(mkdtempSync(join(folder, '.assize-')));
}
