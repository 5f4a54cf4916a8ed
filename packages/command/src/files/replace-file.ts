import {
  closeSync,
  fchmodSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { unwritable } from './file-faults.ts';

/**
 * Writes a new file, or replaces an existing one. The content goes to a file next to it. That file
 * is then renamed. A full disk or a power failure leaves the old content whole. A path that is not
 * a regular file, such as a pipe, is written directly. `most`: the rights that the file has at
 * most.
 *
 * @throws CliError
 */
export function replaceFile(path: string, content: string | Uint8Array, most = 0o666): void {
  try {
    const there = statSync(path, { throwIfNoEntry: false });
    if (there !== undefined && !there.isFile()) writeFileSync(path, content);
    // A link is resolved to its target.
    else replace(there === undefined ? path : realpathSync(path), content, most, there?.mode);
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

function replace(
  path: string,
  content: string | Uint8Array,
  most: number,
  mode: number | undefined,
): void {
  const draft = `${path}.${process.pid}.new`;
  rmSync(draft, { force: true });
  try {
    const file = openSync(draft, 'wx', most);
    try {
      writeFileSync(file, content);
      if (mode !== undefined) fchmodSync(file, mode & (0o7111 | most));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  syncFolder(dirname(path));
}

/** The name is durable after its folder is synced. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
