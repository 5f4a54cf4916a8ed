import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { arg, checkArgument, isAssizeError } from '#base';
import { systemClock } from '#oracle';
import { checkInput } from '../check-input.ts';
import { type EntrySeals, sealsOf } from '../entry-seals.ts';
import { StoreError } from '../errors.ts';
import { SQLITE_OPTIONS } from '../option-names.ts';
import {
  ARCHIVE,
  CLOCK,
  DURABILITY,
  type Durability,
  MODE,
  type OpenMode,
  ROOT_KEYS,
  VECTOR_SEARCH,
} from '../options.ts';
import { checkVersion } from '../schema-version.ts';
import { prepareToWrite, SETTINGS, using } from './connection/connect.ts';
import { openDatabase } from './connection/database.ts';
import { checkPath, createWhole, fileUrl, isPresent } from './connection/file.ts';
import { fileAt, OpenFiles } from './connection/open-files.ts';
import { whenUnlocked } from './connection/retry.ts';
import { Leases } from './effects/lease.ts';
import { isFolderClosed, isNotADatabase, storeError } from './errors.ts';
import { loadSqliteVec, sqliteVecPath } from './facts/sqlite-vec.ts';
import { recordFirstPlace } from './ledger/adoption.ts';
import { HashIndex } from './ledger/hash-index.ts';
import { prepareRefuseRetired } from './ledger/retirement.ts';
import { sealEmpty } from './ledger/seals.ts';
import type { SqliteOptions } from './options.ts';
import { SqliteRows } from './rows.ts';
import { prepareRequireSchema } from './schema/check-schema.ts';
import { APPLICATION_ID, type Mark, migrate, readMark, SCHEMA_VERSION } from './schema/migrate.ts';
import { type Connection, SqliteStore } from './store.ts';
import { FileWriter } from './writer/writer.ts';

export type { Durability, OpenMode, VectorSearch } from '../options.ts';
/** Default of `lockTimeoutMs`: longer than another process's checkpoint on a slow disk. */
export const LOCK_TIMEOUT_MS = 5_000;

/**
 * Opens the store in one file. Creates the file if `mode` allows it.
 *
 * Opening for writing first copies WAL pages that a crash left into the file and syncs it. The
 * answers of the store are then durable. It also resumes an interrupted erasure
 * (`LedgerStore.scrub`).
 *
 * A reader sees a consistent store while another process writes. It can leave an empty `-wal` and a
 * `-shm` next to the file. The next writer removes them. In a read-only folder the reader opens the
 * file as it is, and no process may start to write during the read.
 *
 * With `vectors: 'sqlite-vec'` the function loads the extension from the package before it opens
 * the file. It never loads another extension.
 *
 * @throws {StoreError} `missing_package`; `store_not_found`; `store_other_schema` (the file is left
 * as it was, with nothing new next to it); `store_other_schema`, `store_retired`, `store_readonly`,
 * `store_locked`, `store_corrupt`, `store_failed`; `store_invalid_input` for invalid options;
 * ArgumentError `bad_argument`
 */
export async function openSqlite(options: SqliteOptions): Promise<SqliteStore> {
  checkArgument(SQLITE_OPTIONS, options, 'options');
  const {
    mode = 'create',
    durability = 'full',
    lockTimeoutMs = LOCK_TIMEOUT_MS,
    vectors = 'exact',
  } = options;
  checkInput(MODE, mode, 'options.mode');
  checkInput(DURABILITY, durability, 'options.durability');
  checkInput(VECTOR_SEARCH, vectors, 'options.vectors');
  checkInput(arg.whole, lockTimeoutMs, 'options.lockTimeoutMs');
  checkInput(CLOCK, options.clock, 'options.clock');
  checkInput(ARCHIVE, options.archive, 'options.archive');
  checkInput(ROOT_KEYS, options.rootKeys, 'options.rootKeys');
  const seals = sealsOf(options.rootKeys);
  const path = checkPath(options.path);
  try {
    const extension = vectors === 'sqlite-vec' ? await sqliteVecPath() : undefined;
    if (!isPresent(path) && mode === 'create') createWhole(path, initialise);
    // Also after creating: a symbolic link to a missing file stays one.
    if (!isPresent(path)) {
      throw new StoreError(
        'store_not_found',
        `There is no store at ${path}. Check the path, or open it with mode create.`,
        { evidence: { path } },
      );
    }
    checkMark(path, probe(path), mode);
    const connecting = { mode, durability, extension, seals };
    const another: Connection['another'] = (make) =>
      connect(path, { ...connecting, mode: 'readonly' }, make);
    const connection = {
      path,
      readonly: mode === 'readonly',
      lockTimeoutMs,
      vectors,
      archive: options.archive,
      rootKeys: options.rootKeys,
      another,
    };
    const clock = options.clock ?? systemClock;
    const open = (): SqliteStore => {
      const opened = fileAt(path);
      return connect(path, connecting, (db) => {
        const files = connection.readonly ? undefined : new OpenFiles(db, path, opened);
        const indexes = { ids: new HashIndex(db, 'entry'), blobs: new HashIndex(db, 'blob') };
        const writer = new FileWriter(db, indexes, { path, lockTimeoutMs, files, clock, seals });
        // SQLite's name of the file, because a link and its target are the same file.
        const place = fileUrl(db.location() ?? path, { mode: 'rwc' });
        const leases = new Leases(() => place);
        return new SqliteStore(new SqliteRows(db, indexes, writer, { ...connection, leases }), {
          ...connection,
          files,
        });
      });
    };
    const store = await whenUnlocked(() => againIfMoved(open), path, lockTimeoutMs);
    if (mode !== 'readonly') await goOnErasing(store);
    return store;
  } catch (error) {
    throw storeError(error, path, 'Opening');
  }
}

/**
 * Opens the file again if its path got another file in the meantime. On a layered file system, the
 * first opening for writing copies the file.
 */
function againIfMoved<T>(open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (!isAssizeError(error, 'store_poisoned')) throw error;
    return open();
  }
}

// Starts in rollback mode. Schema and mark are then in the file itself, where `probe` reads them,
// and not only in a WAL.
function initialise(path: string): void {
  const db = openDatabase(path);
  try {
    db.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON');
    migrate(db);
    recordFirstPlace(db, path, systemClock.now());
    db.exec('PRAGMA journal_mode = WAL');
  } finally {
    db.close();
  }
}

/**
 * Reads the mark of a file without changing the file.
 *
 * The function reads through SQLite. If the process already has the file open, a plain open and
 * close would drop SQLite's POSIX locks (https://sqlite.org/howtocorrupt.html, 2.2).
 *
 * `immutable` takes no lock and creates no file. `writable_schema` prevents the error "malformed"
 * for a file if a checkpoint wrote its first page before the last. The checkpoint can be running or
 * cut off by a crash.
 */
function probe(path: string): Mark {
  const db = openDatabase(fileUrl(path, { mode: 'ro', immutable: '1' }), { readOnly: true });
  try {
    // Older releases of Node lack the method, and open the file without the defence.
    db.enableDefensive?.(false);
    db.exec('PRAGMA writable_schema = ON');
    return readMark(db);
  } catch (error) {
    if (isNotADatabase(error)) throw notOurs(path, 'it is not a SQLite database', error);
    throw error;
  } finally {
    db.close();
  }
}

function checkMark(path: string, mark: Mark, mode: OpenMode): void {
  if (mark.applicationId !== APPLICATION_ID) {
    throw notOurs(
      path,
      `it is another program's SQLite database (application_id ${mark.applicationId})`,
    );
  }
  checkVersion(path, mark.version, SCHEMA_VERSION, mode);
}

interface Connecting {
  readonly mode: OpenMode;
  readonly durability: Durability;
  /** The path of sqlite-vec, if the options request it. */
  readonly extension: string | undefined;
  readonly seals: EntrySeals | undefined;
}

/** The result of `make` for the connection. The function closes the connection if `make` throws. */
function connect<T>(
  path: string,
  { mode, durability, extension, seals }: Connecting,
  make: (db: DatabaseSync) => T,
): T {
  const settle = (db: DatabaseSync): T => {
    if (extension !== undefined) loadSqliteVec(db, extension);
    db.exec(SETTINGS);
    // Checked again, now including the WAL: it can hold a newer mark than the file.
    checkMark(path, readMark(db), mode);
    if (mode !== 'readonly') {
      prepareToWrite(db, path, durability);
      prepareRefuseRetired(db, path)();
      prepareRequireSchema(db, path)();
      if (seals !== undefined) sealEmpty(db);
    }
    return make(db);
  };
  const allowExtension = extension !== undefined;
  if (mode !== 'readonly')
    return using(fileUrl(path, { mode: 'rw' }), { readOnly: false, allowExtension }, settle);
  try {
    return using(fileUrl(path, { mode: 'ro' }), { readOnly: true, allowExtension }, settle);
  } catch (error) {
    // If SQLite cannot create files next to a WAL database, it reads the database only as
    // `immutable`. A missing -wal shows that no process writes.
    if (!isFolderClosed(error) || existsSync(`${path}-wal`)) throw error;
    return using(
      fileUrl(path, { mode: 'ro', immutable: '1' }),
      { readOnly: true, allowExtension },
      settle,
    );
  }
}

/**
 * Resumes an erasure that its process did not finish. A store without disk space for that still
 * opens.
 */
async function goOnErasing(store: SqliteStore): Promise<void> {
  try {
    await store.scrub();
  } catch (error) {
    // The erasure stays due, and the self check of the store reports it.
    if (isAssizeError(error, 'store_not_scrubbed')) return;
    await store.close();
    throw error;
  }
}

function notOurs(path: string, what: string, cause?: unknown): StoreError {
  return new StoreError(
    'store_other_schema',
    `${path} is not an Assize store: ${what}. Nothing was changed; check the path.`,
    {
      evidence: { path },
      cause,
    },
  );
}
