import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { isAssizeError, requireForm } from '#base';
import { StoreError } from '../errors.ts';
import { checkCount } from '../input.ts';
import { SQLITE_OPTIONS } from '../option-names.ts';
import { checkChoices, checkVectorSearch, type Durability, type OpenMode } from '../options.ts';
import { checkVersion } from '../schema-version.ts';
import { prepareToWrite, SETTINGS, using } from './connection/connect.ts';
import { openDatabase } from './connection/database.ts';
import { checkPath, createWhole, fileUrl, isPresent } from './connection/file.ts';
import { whenUnlocked } from './connection/retry.ts';
import { isFolderClosed, isNotADatabase, storeError } from './errors.ts';
import { loadSqliteVec, sqliteVecPath } from './facts/sqlite-vec.ts';
import { HashIndex } from './ledger/hash-index.ts';
import type { SqliteOptions } from './options.ts';
import { APPLICATION_ID, type Mark, migrate, readMark, SCHEMA_VERSION } from './schema/migrate.ts';
import { type Connection, SqliteStore } from './store.ts';
import { Writing } from './writer/writer.ts';

export type { Durability, OpenMode, VectorSearch } from '../options.ts';
/** Default of `lockTimeoutMs`: longer than another process's checkpoint on a slow disk. */
export const LOCK_TIMEOUT_MS = 5_000;

/**
 * Opens the store in one file, and makes the file where `mode` allows it.
 *
 * Opening for writing first carries what a crash left in the WAL into the file and syncs it, so that what the store then
 * answers is on disk, and goes on where an erasure was cut off (`LedgerStore.scrub`). A reader sees a consistent store while another process writes; it may leave an empty `-wal` and a
 * `-shm` beside the file, which the next writer removes. In a folder where it may put no files it takes the file as it is:
 * no one may begin to write while it reads.
 *
 * With `vectors: 'sqlite-vec'` its functions are loaded, from the package alone, before the file is touched; nothing else is ever loaded.
 *
 * @throws {StoreError} `store_no_driver`; `store_not_found`; `store_not_ours` (the file is left as it was, with nothing new beside it);
 *   `store_newer_schema`, `store_older_schema`, `store_readonly`, `store_locked`, `store_corrupt`, `store_failed`;
 *   `store_invalid_input` for options that are none; ArgumentError `bad_argument`
 */
export async function openSqlite(options: SqliteOptions): Promise<SqliteStore> {
  requireForm(SQLITE_OPTIONS, options, 'options');
  const { mode = 'create', durability = 'full', lockTimeoutMs = LOCK_TIMEOUT_MS, vectors = 'exact' } = options;
  checkChoices(mode, durability);
  checkVectorSearch(vectors);
  checkCount(lockTimeoutMs, 'lockTimeoutMs');
  const path = checkPath(options.path);
  try {
    const extension = vectors === 'sqlite-vec' ? await sqliteVecPath() : undefined;
    if (!isPresent(path) && mode === 'create') createWhole(path, initialise);
    // Also after creating: a symbolic link to nothing stays one.
    if (!isPresent(path)) {
      throw new StoreError(
        'store_not_found',
        `There is no store at ${path}; check the path, or open it with mode create.`,
        { evidence: { path } },
      );
    }
    checkMark(path, probe(path), mode);
    const connecting = { mode, durability, extension };
    const another: Connection['another'] = (make) => connect(path, { ...connecting, mode: 'readonly' }, make);
    const connection = { path, readonly: mode === 'readonly', lockTimeoutMs, vectors, another };
    const make = (db: DatabaseSync): SqliteStore => {
      const indexes = { ids: new HashIndex(db, 'entry'), blobs: new HashIndex(db, 'blob') };
      return new SqliteStore(db, indexes, new Writing(db, indexes, connection), connection);
    };
    const store = await whenUnlocked(() => connect(path, connecting, make), path, lockTimeoutMs);
    if (mode !== 'readonly') await goOnErasing(store);
    return store;
  } catch (error) {
    throw storeError(error, path, 'Opening');
  }
}

// In rollback mode first: schema and mark are then in the file itself, where `probe` reads them, and not only in a WAL.
function initialise(path: string): void {
  const db = openDatabase(path);
  try {
    db.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON');
    migrate(db);
    db.exec('PRAGMA journal_mode = WAL');
  } finally {
    db.close();
  }
}

/**
 * Reads whose file it is without changing anything. It goes through SQLite, because in a process that has the file open
 * already, a plain open and close of it would drop SQLite's POSIX locks (https://sqlite.org/howtocorrupt.html, 2.2).
 * `immutable` takes no lock and makes no file. `writable_schema` keeps SQLite from calling the file malformed whose first
 * page a checkpoint, running or cut off by a crash, has written before the last.
 */
function probe(path: string): Mark {
  const db = openDatabase(fileUrl(path, { mode: 'ro', immutable: '1' }), { readOnly: true });
  try {
    // Older releases of Node have no such method, and open without the defence.
    db.enableDefensive?.(false);
    db.exec('PRAGMA writable_schema = ON');
    return readMark(db);
  } catch (error) {
    if (isNotADatabase(error)) throw notOurs(path, 'it is no SQLite database', error);
    throw error;
  } finally {
    db.close();
  }
}

function checkMark(path: string, mark: Mark, mode: OpenMode): void {
  if (mark.applicationId !== APPLICATION_ID) {
    throw notOurs(path, `it is another program's SQLite database (application_id ${mark.applicationId})`);
  }
  checkVersion(path, mark.version, SCHEMA_VERSION, mode);
}

interface Connecting {
  readonly mode: OpenMode;
  readonly durability: Durability;
  /** The path of sqlite-vec, where it is wanted. */
  readonly extension: string | undefined;
}

/** What `make` makes of the connection, which is closed where that throws. */
function connect<T>(path: string, { mode, durability, extension }: Connecting, make: (db: DatabaseSync) => T): T {
  const settle = (db: DatabaseSync): T => {
    if (extension !== undefined) loadSqliteVec(db, extension);
    db.exec(SETTINGS);
    // Again, now that the WAL is read too: it may hold a newer mark than the file.
    checkMark(path, readMark(db), mode);
    if (mode !== 'readonly') prepareToWrite(db, path, durability);
    return make(db);
  };
  const allowExtension = extension !== undefined;
  if (mode !== 'readonly') return using(fileUrl(path, { mode: 'rw' }), { readOnly: false, allowExtension }, settle);
  try {
    return using(fileUrl(path, { mode: 'ro' }), { readOnly: true, allowExtension }, settle);
  } catch (error) {
    // Where SQLite can put no files beside a WAL database, it reads it only when told that no one writes to it. No -wal
    // means that no one does.
    if (!isFolderClosed(error) || existsSync(`${path}-wal`)) throw error;
    return using(fileUrl(path, { mode: 'ro', immutable: '1' }), { readOnly: true, allowExtension }, settle);
  }
}

/** What an erasure had still to do when its process ended. A store that has no room for that now is a store all the same. */
async function goOnErasing(store: SqliteStore): Promise<void> {
  try {
    await store.scrub();
  } catch (error) {
    // It stays due, and the check of the store says so.
    if (isAssizeError(error, 'store_not_scrubbed')) return;
    await store.close();
    throw error;
  }
}

function notOurs(path: string, what: string, cause?: unknown): StoreError {
  return new StoreError('store_not_ours', `${path} is no Assize store, ${what}; nothing was changed, check the path.`, {
    evidence: { path },
    cause,
  });
}
