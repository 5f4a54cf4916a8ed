import { closeSync, fsyncSync, linkSync, mkdtempSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { StoreError } from '../../errors.ts';
import { readonlyError } from '../errors.ts';

/** The absolute path. Absolute, because SQLite would take a text such as `:memory:` or `file:…` for something else. */
export function checkPath(path: string): string {
  if (typeof path !== 'string' || path === '' || path === ':memory:' || path.includes('\0') || !path.isWellFormed()) {
    throw new StoreError(
      'store_invalid_input',
      'A SQLite store needs the path of a file; for one in memory use MemoryStore.',
      {
        evidence: { path },
      },
    );
  }
  return resolve(path);
}

/** The file as SQLite's URI, which alone can carry `mode` and `immutable`. */
export function fileUrl(path: string, params: Readonly<Record<string, string>>): URL {
  const url = pathToFileURL(path);
  for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
  return url;
}

/**
 * Whether a file is there.
 *
 * @throws {StoreError} `store_not_ours` for a folder or a device, and for a file of no bytes: a store never leaves one,
 *   but a copy that was cut off does, and beginning a new ledger in it would hide the loss.
 */
export function isPresent(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return false;
  const fault = !stats.isFile()
    ? 'is not a regular file; give the path of a file'
    : stats.size === 0
      ? 'is an empty file; put the store back, or remove the file to begin a new one'
      : undefined;
  if (fault !== undefined) throw new StoreError('store_not_ours', `${path} ${fault}.`, { evidence: { path } });
  return true;
}

/**
 * Makes a file that is whole from the moment it has its name: `write` fills another one on the same file system, which
 * is then linked. Where two processes do so at once, the first wins and both find one whole file.
 */
export function createWhole(path: string, write: (path: string) => void): void {
  const folder = dirname(path);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new StoreError('store_not_found', `The folder ${folder} is not there; create it first.`, {
      evidence: { path },
    });
  }
  for (const suffix of ['-wal', '-journal']) {
    // SQLite would take the leftover for this file's own and play it into it.
    if (statSync(path + suffix, { throwIfNoEntry: false }) !== undefined) {
      throw new StoreError(
        'store_not_found',
        `${path} is gone but ${path}${suffix} is there and may hold its last entries; put the file back, or move that one away.`,
        { evidence: { path } },
      );
    }
  }
  const workshop = makeFolder(path);
  const draft = join(workshop, 'draft.db');
  try {
    write(draft);
    publish(draft, path);
  } finally {
    rmSync(workshop, { recursive: true });
  }
  syncFolder(folder);
}

// A folder, because its name is then this process's alone, and whatever SQLite leaves in it goes with it.
function makeFolder(path: string): string {
  try {
    return mkdtempSync(`${path}.new-`);
  } catch (error) {
    // ENOENT, though the parent is there: a file system that makes its files itself, such as /proc.
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
    // Another process was first; its file is as good.
    if (errno(error) !== 'EEXIST') throw error;
  }
}

// The file's name is durable only when the folder is; Windows has no way to sync a folder and does it by itself.
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
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
