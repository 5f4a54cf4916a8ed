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
const CONSTRAINT_TRIGGER = 1811;
const CONSTRAINT_UNIQUE = 2067;

/** SQLite's extended result code, where the error came from SQLite. */
function resultCode(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
    ? error.errcode
    : undefined;
}

/** The fields of a SQLite error that are passed to another thread. Undefined for other errors. */
export function sqliteFailure(
  error: unknown,
): { readonly errcode: number; readonly message: string } | undefined {
  const errcode = resultCode(error);
  return errcode === undefined ? undefined : { errcode, message: reason(error) };
}

/** The same as an error again. */
export function sqliteError(errcode: number, message: string): Error {
  return Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode });
}

/** Written data is missing or changed. Nothing more is written to such a file. */
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

/** The entry, or another entry at its position, is there already (trigger `entry_once`). */
export function isDuplicate(error: unknown): boolean {
  const code = resultCode(error);
  return (
    code === CONSTRAINT_UNIQUE || code === CONSTRAINT_PRIMARYKEY || code === CONSTRAINT_TRIGGER
  );
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

/**
 * No room on a disk or in memory, or none for temporary files; the started transaction is rolled
 * back.
 */
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
    `${path} was locked by another process for ${timeoutMs} ms, and nothing was written. Try again later.`,
    { evidence: { path, timeoutMs }, retryable: true, cause },
  );
}

export function notScrubbedError(path: string, cause: unknown): StoreError {
  const todo = isBusy(cause)
    ? 'Other processes write to the file: wait until they are done'
    : 'The rewrite needs the size of the file as free space, there and in the folder for temporary files: free the space';
  return new StoreError(
    'store_not_scrubbed',
    `The erasure is committed, but erased bytes may remain in ${path}, which could not be rewritten (${reason(cause)}). ${todo}, open the store for writing, and check with \`assize verify --database\`.`,
    { evidence: { path, ...evidenceOf(cause) }, retryable: true, cause },
  );
}

export function readonlyError(path: string, why: string, cause?: unknown): StoreError {
  return new StoreError('store_readonly', `${path} cannot be written: ${why}.`, {
    evidence: { path },
    cause,
  });
}

export function poisonedError(path: string, cause: unknown): StoreError {
  return new StoreError(
    'store_poisoned',
    `A write to ${path} failed (${reason(cause)}), so this handle is unusable. Do this next: open the store again, verify it, and check unknown commits with resolve(id).`,
    { evidence: { path, ...evidenceOf(cause) }, cause },
  );
}

/**
 * `file`: the path that no longer names the file that the store has open, or names a part of it.
 * `what`: what was done to it.
 */
export function movedError(path: string, file: string, what: string, cause?: unknown): StoreError {
  return new StoreError(
    'store_poisoned',
    `${file} was ${what} while the store ${path} was open, so its last commits may be in no file. Put the right file in place, open the store again, verify it, and check unknown commits with resolve(id).`,
    { evidence: { path, file }, cause },
  );
}

export function diskFullError(path: string, cause?: unknown): StoreError {
  return new StoreError('store_failed', `${path} is on a full disk. Free space and try again.`, {
    evidence: { path, ...evidenceOf(cause) },
    retryable: true,
    cause,
  });
}

/**
 * The store's error for an error of SQLite or the file system. A StoreError is returned unchanged.
 */
export function storeError(error: unknown, path: string, doing: string): StoreError {
  if (error instanceof StoreError) return error;
  const details = { evidence: { path, ...evidenceOf(error) }, cause: error };
  switch (primaryCode(error)) {
    case READONLY:
      return readonlyError(
        path,
        'the file, its folder or its file system is read-only. Open it with mode readonly',
        error,
      );
    case FULL:
      return diskFullError(path, error);
    case CORRUPT:
    case NOTADB:
      return new StoreError(
        'store_corrupt',
        `${path} is damaged. Keep a copy, and restore it from an export or a backup.`,
        details,
      );
    case CANTOPEN:
      return new StoreError(
        'store_failed',
        `${doing} ${path} failed: this user may not read it, or may not make the files ${path}-wal and ${path}-shm beside it. Give this user the right to write into the folder, or copy the store with assize backup as the user to whom it belongs, and open the copy.`,
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
