import { chmodSync, existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CliError } from '../errors.ts';
import { unwritable } from './file-faults.ts';
import { makeFolder } from './folders.ts';
import { replaceFile } from './replace-file.ts';

/**
 * Writes files, all or none. Without `force`, one existing file prevents all writes.
 * @throws CliError
 */
export function writeNew(
  files: readonly (readonly [path: string, text: string])[],
  force: boolean,
): void {
  const folder = files
    .map(([path]) => path)
    .find((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory());
  if (folder !== undefined) throw new CliError('usage', `${folder} is a folder. Name a file.`);
  const there = force ? [] : files.map(([path]) => path).filter((path) => existsSync(path));
  if (there.length > 0)
    throw new CliError(
      'usage',
      `The command would overwrite ${there.join(', ')}. Name another path, or pass --force.`,
    );
  for (const [path, text] of files) write(path, text, force);
}

function write(path: string, text: string, force: boolean): void {
  try {
    makeFolder(dirname(path));
    // Exclusive, so a file created in the meantime is not overwritten either.
    if (!force) writeFileSync(path, text, { flag: 'wx' });
  } catch (cause) {
    // The file was opened exclusively, so it is new, and a partial file would block the next
    // attempt.
    if ((cause as NodeJS.ErrnoException).syscall === 'write') rmSync(path, { force: true });
    throw unwritable(path, cause);
  }
  if (force) replaceFile(path, text);
}

/**
 * Writes a new file, whole or not at all: a partial file would block the next attempt. `rule`: why
 * an existing file stays.
 *
 * @throws CliError
 */
export function writeNewFile(
  path: string,
  text: string,
  mode: number,
  rule = 'and a key is never overwritten',
): void {
  try {
    writeFileSync(path, text, { flag: 'wx', mode });
    // The process's umask may remove further rights, and never adds any.
    chmodSync(path, mode);
  } catch (cause) {
    const { code, syscall } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST')
      throw new CliError('usage', `${path} already exists, ${rule}. Name another path.`, { cause });
    if (syscall !== 'open') rmSync(path, { force: true });
    throw unwritable(path, cause);
  }
}
