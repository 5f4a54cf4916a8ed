import { existsSync, mkdirSync, mkdtempSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/**
 * Creates a folder and its parents, one at a time. Node’s recursive mkdir retries forever if the
 * system reports an existing parent as missing, as below `/proc`.
 *
 * @throws the errors of the system
 */
export function makeFolder(path: string): void {
  const lacking: string[] = [];
  for (let at = resolve(path); !existsSync(at); at = dirname(at)) lacking.unshift(at);
  for (const folder of lacking) makeOne(folder);
  if (!statSync(path).isDirectory())
    throw Object.assign(new Error(`${path} is a file`), { code: 'EEXIST' });
}

/** Another process has created the folder in the meantime. */
function makeOne(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !existsSync(folder)) throw error;
  }
}

/**
 * Checks that a folder is writable by writing a file. The mode is not sufficient, because a system
 * may restrict root too.
 * @throws the errors of the system
 */
export function requireWritable(folder: string): void {
  rmdirSync(mkdtempSync(join(folder, '.assize-')));
}
