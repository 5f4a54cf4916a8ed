import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { StoreError } from '../../errors.ts';
import { readonlyError } from '../errors.ts';

/**
 * The absolute path. A relative path would be ambiguous: SQLite interprets texts such as `:memory:`
 * or `file:…`.
 */
export function checkPath(path: string): string {
  if (
    typeof path !== 'string' ||
    path === '' ||
    path === ':memory:' ||
    path.includes('\0') ||
    !path.isWellFormed()
  ) {
    throw new StoreError(
      'store_invalid_input',
      'The path of the SQLite store is empty. Pass the path of a file, or open the store at memory: instead.',
      {
        evidence: { path },
      },
    );
  }
  return resolve(path);
}

/** The file as a SQLite URI. Only a URI can carry `mode` and `immutable`. */
export function fileUrl(path: string, params: Readonly<Record<string, string>>): URL {
  const url = pathToFileURL(path);
  for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
  return url;
}

/**
 * Whether the file exists.
 *
 * @throws {StoreError} `store_other_schema` for a folder, a device or an empty file. A store never
 * leaves an empty file, but a truncated copy does. A new ledger in such a file would hide the loss.
 */
export function isPresent(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return false;
  const fault = !stats.isFile()
    ? 'is not a regular file. Pass the path of a file'
    : stats.size === 0
      ? 'is an empty file. Restore the store, or remove the file to create a new one'
      : undefined;
  if (fault !== undefined)
    throw new StoreError('store_other_schema', `${path} ${fault}.`, { evidence: { path } });
  return true;
}

/**
 * Creates a file that is complete from the moment it has its name. `write` fills a temporary file
 * on the same file system, and that is then linked. If two processes do so concurrently, the first
 * one wins and both find one complete file.
 */
export function createWhole(path: string, write: (path: string) => void): void {
  requireFree(path);
  const workshop = makeFolder(path);
  const draft = join(workshop, 'draft.db');
  try {
    write(draft);
    // A store has texts and salts. SQLite gives the WAL the rights of the file.
    chmodSync(draft, 0o600);
    publish(draft, path);
  } finally {
    rmSync(workshop, { recursive: true });
  }
  syncFolder(dirname(path));
}

/**
 * Creates a file that is complete from the moment it has its name, and never replaces a file. If
 * `write` resolves to false, the temporary file is deleted.
 */
export async function createLater(
  path: string,
  write: (path: string) => Promise<boolean>,
): Promise<boolean> {
  if (existsSync(path)) throw alreadyThere(path);
  requireFree(path);
  const workshop = makeFolder(path);
  const draft = join(workshop, 'draft.db');
  try {
    if (!(await write(draft))) return false;
    linkSync(draft, path);
  } catch (error) {
    throw errno(error) === 'EEXIST' ? alreadyThere(path) : error;
  } finally {
    rmSync(workshop, { recursive: true });
  }
  syncFolder(dirname(path));
  return true;
}

function alreadyThere(path: string): StoreError {
  return new StoreError('store_failed', `${path} already exists. Name another file.`, {
    evidence: { path },
  });
}

/** Checks that a new store can have this path. */
function requireFree(path: string): void {
  const folder = dirname(path);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new StoreError(
      'store_not_found',
      `The folder ${folder} does not exist. Create it first.`,
      {
        evidence: { path },
      },
    );
  }
  for (const suffix of ['-wal', '-journal']) {
    // SQLite would treat the leftover as this file's own journal and replay it.
    if (statSync(path + suffix, { throwIfNoEntry: false }) !== undefined) {
      throw new StoreError(
        'store_not_found',
        `${path} is missing, but ${path}${suffix} exists and may hold its last entries. Restore the file, or move ${path}${suffix} away.`,
        { evidence: { path } },
      );
    }
  }
}

// A folder, because its name is unique to this process, and removing it removes all files of SQLite
// in it.
function makeFolder(path: string): string {
  try {
    return mkdtempSync(`${path}.new-`);
  } catch (error) {
    // ENOENT although the parent exists: a virtual file system, such as /proc.
    if (['EACCES', 'EPERM', 'EROFS', 'ENOENT'].includes(errno(error) ?? '')) {
      throw readonlyError(path, 'its folder does not allow new files', error);
    }
    throw error;
  }
}

function publish(draft: string, path: string): void {
  try {
    linkSync(draft, path);
  } catch (error) {
    // Another process created the file first, and that file is equivalent.
    if (errno(error) !== 'EEXIST') throw error;
  }
}

// The file's name is durable only when the folder is. Windows cannot sync a folder and makes the
// name durable automatically.
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function errno(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;
}
