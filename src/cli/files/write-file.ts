import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CliError } from '../errors.ts';
import { unwritable } from './file-faults.ts';
import { makeFolder } from './folders.ts';
import { replaceFile } from './replace-file.ts';

/** Writes files, all or, where one of them is there already and `force` does not say otherwise, none. @throws CliError */
export function writeNew(files: readonly (readonly [path: string, text: string])[], force: boolean): void {
  const folder = files.map(([path]) => path).find((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory());
  if (folder !== undefined) throw new CliError('usage', `${folder} is a folder; name a file.`);
  const there = force ? [] : files.map(([path]) => path).filter((path) => existsSync(path));
  if (there.length > 0)
    throw new CliError('usage', `${there.join(', ')} would be written over; name another place, or say --force.`);
  for (const [path, text] of files) write(path, text, force);
}

function write(path: string, text: string, force: boolean): void {
  try {
    makeFolder(dirname(path));
    // Exclusive, so that nothing that came in between is written over either.
    if (!force) writeFileSync(path, text, { flag: 'wx' });
  } catch (cause) {
    // It was opened, so it is new, and a part of it would be in the way of the next try.
    if ((cause as NodeJS.ErrnoException).syscall === 'write') rmSync(path, { force: true });
    throw unwritable(path, cause);
  }
  if (force) replaceFile(path, text);
}
