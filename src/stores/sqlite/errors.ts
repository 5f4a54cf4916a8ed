import { StoreError } from '../errors.ts';

// https://sqlite.org/rescode.html
const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const NOMEM = 7;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;
const CONSTRAINT_PRIMARYKEY = 1555;
const CONSTRAINT_UNIQUE = 2067;

/** SQLite's extended result code, where the error came from SQLite. */
function resultCode(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : undefined;
}

/** What crosses to another thread of an error of SQLite; undefined for any other. */
export function sqliteFailure(error: unknown): { readonly errcode: number; readonly message: string } | undefined {
  const errcode = resultCode(error);
  return errcode === undefined ? undefined : { errcode, message: reason(error) };
}

/** The same as an error again. */
export function sqliteError(errcode: number, message: string): Error {
  return Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode });
}

/** What was written once is not there, or not as it was: nothing more is written to such a file. */
export function damagedError(what: string): Error {
  return sqliteError(CORRUPT, what);
}

// The low byte is the primary code, the rest only tells more.
function primaryCode(error: unknown): number | undefined {
  const code = resultCode(error);
  return code === undefined ? undefined : code & 0xff;
}

/** Another connection holds the lock; nothing was done. */
export function isBusy(error: unknown): boolean {
  const code = primaryCode(error);
  return code === BUSY || code === LOCKED;
}

/** The row, or a row with that id, is there already. */
export function isDuplicate(error: unknown): boolean {
  const code = resultCode(error);
  return code === CONSTRAINT_UNIQUE || code === CONSTRAINT_PRIMARYKEY;
}

/** SQLite can't make the files that it keeps beside the database. */
export function isFolderClosed(error: unknown): boolean {
  const code = primaryCode(error);
  return code === CANTOPEN || code === READONLY;
}

/** No room on a disk. A sync that fails says something else, also where it is for want of room. */
export function isFull(error: unknown): boolean {
  return primaryCode(error) === FULL;
}

/** No room on a disk or in memory, or none for temporary files; what was begun is rolled back. */
export function isOutOfSpace(error: unknown): boolean {
  const code = primaryCode(error);
  return code === FULL || code === NOMEM || code === CANTOPEN;
}

export function isNotADatabase(error: unknown): boolean {
  return primaryCode(error) === NOTADB;
}

export function lockedError(path: string, timeoutMs: number, cause: unknown): StoreError {
  return new StoreError(
    'store_locked',
    `${path} was locked by someone else for ${timeoutMs} ms; nothing was written, try again when they are done.`,
    { evidence: { path, timeoutMs }, retryable: true, cause },
  );
}

export function notScrubbedError(path: string, cause: unknown): StoreError {
  const todo = isBusy(cause)
    ? 'Others write to it all the time: wait until they are done'
    : 'It takes as much free space as the file has, beside it and once more in the folder for temporary files: make room';
  return new StoreError(
    'store_not_scrubbed',
    `What was erased is committed and nobody reads it any more, but bytes of it may still be in ${path}, which could not be written anew (${reason(cause)}). ${todo}, and open the store for writing, which goes on with it; \`assize fsck\` says whether it is done.`,
    { evidence: { path, ...evidenceOf(cause) }, retryable: true, cause },
  );
}

export function readonlyError(path: string, why: string, cause?: unknown): StoreError {
  return new StoreError('store_readonly', `${path} can't be written: ${why}.`, { evidence: { path }, cause });
}

export function poisonedError(path: string, cause: unknown): StoreError {
  const first = primaryCode(cause) === FULL ? 'free space on its disk, ' : '';
  return new StoreError(
    'store_poisoned',
    `A write to ${path} failed (${reason(cause)}), so this handle answers nothing more; ${first}open the store anew, verify it, and settle unknown commits with resolve(id).`,
    { evidence: { path, ...evidenceOf(cause) }, cause },
  );
}

/** The store's error for whatever SQLite or the file system threw; a StoreError stays as it is. */
export function storeError(error: unknown, path: string, doing: string): StoreError {
  if (error instanceof StoreError) return error;
  const details = { evidence: { path, ...evidenceOf(error) }, cause: error };
  switch (primaryCode(error)) {
    case READONLY:
      return readonlyError(
        path,
        'the file, its folder or its file system is read-only; open it with mode readonly',
        error,
      );
    case FULL:
      return new StoreError('store_failed', `${path} is on a full disk; free space there and try again.`, {
        ...details,
        retryable: true,
      });
    case CORRUPT:
    case NOTADB:
      return new StoreError(
        'store_corrupt',
        `${path} is damaged; keep a copy, and restore it from an export or a backup.`,
        details,
      );
    default:
      return new StoreError('store_failed', `${doing} ${path} failed: ${reason(error)}.`, details);
  }
}

function evidenceOf(error: unknown): { sqlite?: number } {
  const code = resultCode(error);
  return code === undefined ? {} : { sqlite: code };
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
