import { chmodSync, statfsSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { arg, markOwnPackage } from '#base';
import type { FactReads, ParallelReader, RowRange } from '#ledger';
import {
  type Archivable,
  type ArchiveOptions,
  type ArchiveReport,
  archiveEntries,
} from '../archive/archive-entries.ts';
import type { ArchiveState } from '../archive/port.ts';
import { StoreArchive } from '../archive/store-archive.ts';
import { checkInput, TEXT } from '../check-input.ts';
import { CheckedStore } from '../checked-store.ts';
import { sealsOf } from '../entry-seals.ts';
import type { Followable, StoreEvent } from '../follow.ts';
import type { InPlace } from '../in-place.ts';
import { RETIREMENT, SNAPSHOT_READ } from '../input.ts';
import type { VectorSearch } from '../options.ts';
import { readInParallel } from '../parallel-reader.ts';
import { factReads } from '../read-snapshot.ts';
import type { Retirable, Retirement } from '../retirement.ts';
import { copyDatabase } from './connection/database.ts';
import { checkPath, createLater, fileUrl } from './connection/file.ts';
import type { OpenFiles } from './connection/open-files.ts';
import { diskFullError, storeError } from './errors.ts';
import { snapshotReads } from './facts/snapshot-read.ts';
import type { SqliteRows } from './rows.ts';
import { vacuum } from './vacuum.ts';
import { WriteLocks } from './writer/write-locks.ts';

/** The free space with which a full disk counts as freed. */
const SPACE_MIN: number = 2 ** 20;

/** The connection data that `openSqlite` has determined. */
export interface Connection {
  readonly path: string;
  readonly readonly: boolean;
  readonly lockTimeoutMs: number;
  /** `sqlite-vec` if the connection has loaded its functions. */
  readonly vectors: VectorSearch;
  /** The place of the store's archive, if the caller named one. */
  readonly archive: string | undefined;
  readonly rootKeys: readonly string[] | undefined;
  /** The files of a connection that writes. */
  readonly files: OpenFiles | undefined;
  /**
   * The result of `make` for one more connection that only reads. The function closes the
   * connection if `make` throws.
   */
  readonly another: <T>(make: (db: DatabaseSync) => T) => T;
}

/** The time between two looks at the commits of other connections. */
const FOLLOW_MS = 800;

/**
 * A store in one SQLite file: a ledger with its Merkle log, an effect log, an oracle log and facts.
 * `openSqlite` creates it. Several processes can open the file concurrently.
 *
 * Commits are written in groups and answered when they are durable. Reads see all commits, also of
 * other processes.
 *
 * After a failed write, and after a commit whose file was removed or replaced meanwhile, every call
 * throws `store_poisoned`. After `close` every call throws `store_closed`. Arguments that no row
 * can hold throw `store_invalid_input`. A damaged file throws `store_corrupt`. A lock that another
 * process holds for too long throws `store_locked`.
 */
export class SqliteStore
  extends CheckedStore
  implements Followable, Retirable, Archivable, InPlace
{
  static {
    markOwnPackage(SqliteStore.prototype);
  }

  /** The absolute path of the file. */
  readonly path: string;
  readonly readonly: boolean;
  readonly #rows: SqliteRows;
  readonly #connection: Connection;
  readonly #archive: StoreArchive;
  readonly #turns: WriteLocks;
  readonly #following: Set<() => Promise<void>> = new Set();

  /** `close` closes the connection of the rows. */
  constructor(rows: SqliteRows, connection: Connection) {
    const archive = new StoreArchive(rows, connection.archive);
    super(rows, archive, sealsOf(connection.rootKeys));
    this.#rows = rows;
    this.#connection = connection;
    this.#archive = archive;
    this.path = connection.path;
    this.readonly = connection.readonly;
    // Uses SQLite's name of the file, because a link and its target are the same file.
    this.#turns = new WriteLocks(fileUrl(rows.db.location() ?? connection.path, { mode: 'rwc' }));
  }

  async withReadSnapshot<T>(
    read: (facts: FactReads) => Promise<T>,
    options?: { readonly byText?: boolean },
  ): Promise<T> {
    checkInput(arg.code, read, 'read');
    checkInput(SNAPSHOT_READ, options, 'options');
    if (
      options?.byText === true &&
      !this.readonly &&
      (await this.#rows.read((reads) => reads.isBehind()))
    )
      await this.#rows.index();
    // A separate connection, so other readers see commits in the meantime.
    const { db, facts } = await this.#rows.read(() =>
      this.#connection.another((db) => ({
        db,
        facts: snapshotReads(db, this.path, this.#connection.vectors),
      })),
    );
    try {
      return await read(factReads(facts, async (step) => this.#rows.read(step)));
    } finally {
      db.close();
    }
  }

  async retire(retirement: Retirement): Promise<void> {
    this.#rows.checkWritable();
    checkInput(RETIREMENT, retirement, 'retirement');
    return this.#rows.writing.step('retire', retirement);
  }

  /**
   * Copies the store as of one moment into a new file, while this and other processes write.
   * `accept` receives the copy before it has its name. If `accept` returns false, the copy is
   * deleted.
   *
   * @throws {StoreError} `store_not_found` for a missing folder, `store_failed` if the file exists
   */
  async copyInto(
    file: string,
    accept: (copy: string) => Promise<boolean> = async () => true,
  ): Promise<boolean> {
    this.#rows.checkUsable();
    checkInput(TEXT, file, 'file');
    checkInput(arg.code, accept, 'accept');
    const path = checkPath(file);
    const from = this.#connection.another((db) => db);
    try {
      return await createLater(path, async (draft) => {
        await copyDatabase(from, draft).catch((error: unknown) => {
          throw storeError(error, path, 'Copying to');
        });
        chmodSync(draft, statSync(this.path).mode & 0o7777);
        return accept(draft);
      });
    } catch (error) {
      // The errors of `accept` are the caller's own.
      throw error instanceof Error && 'syscall' in error
        ? storeError(error, path, 'Copying to')
        : error;
    } finally {
      from.close();
    }
  }

  async scrub(): Promise<void> {
    this.#rows.checkWritable();
    // First, because the counters of erasures show the rest of the work until the end of all of it.
    try {
      await this.#archive.scrub(this);
    } finally {
      await this.#rows.writing.scrub();
    }
  }

  async archiveEntries(options: ArchiveOptions): Promise<ArchiveReport> {
    return archiveEntries(this.#archive.access(this), options);
  }

  /**
   * Gives the space of deleted and archived texts back to the disk. The rewrite needs free space of
   * the size of the file. Writes of other processes wait for it, and this thread does nothing else.
   *
   * @throws {StoreError} `store_locked`, `store_failed`
   */
  async vacuum(): Promise<void> {
    this.#rows.checkWritable();
    try {
      await vacuum(this.path, this.#connection.lockTimeoutMs);
    } catch (error) {
      throw storeError(error, this.path, 'Vacuuming');
    }
  }

  async archiveState(): Promise<ArchiveState | undefined> {
    return this.#archive.state();
  }

  async acquireWriteLock(trajectoryId: string): Promise<(() => void) | undefined> {
    this.#rows.checkWritable();
    checkInput(TEXT, trajectoryId, 'trajectoryId');
    return this.#turns.acquire();
  }

  readInParallel(ranges: readonly RowRange[]): ParallelReader {
    this.#rows.checkUsable();
    const { archive, rootKeys } = this.#connection;
    return readInParallel({ url: `sqlite:${this.path}`, archive, rootKeys }, ranges);
  }

  requireInPlace(): void {
    this.#rows.checkUsable();
    this.#connection.files?.requireNamed();
  }

  requireSpace(): void {
    if (!this.#rows.writing.isDiskFull) return;
    const { bavail, bsize } = statfsSync(this.path);
    if (bavail * bsize < SPACE_MIN) throw diskFullError(this.path);
  }

  /** Looks every `FOLLOW_MS` whether another connection has committed, and says `missed` then. */
  async follow(listener: (news: StoreEvent) => void): Promise<() => Promise<void>> {
    checkInput(arg.code, listener, 'listener');
    const version = (): unknown =>
      this.#rows.db.prepare('PRAGMA data_version').get()?.['data_version'];
    let seen = await this.#rows.read(version);
    const look = async (): Promise<void> => {
      // Undefined if it cannot be read now. Later reads report what was missed.
      const now = await (async () => this.#rows.read(version))().catch(() => undefined);
      if (!this.#following.has(look)) return;
      if (now !== undefined && now !== seen) listener({ kind: 'missed' });
      seen = now;
      setTimeout(look, FOLLOW_MS).unref();
    };
    this.#following.add(look);
    setTimeout(look, FOLLOW_MS).unref();
    return async () => void this.#following.delete(look);
  }

  async selfCheck(): Promise<string[]> {
    return [
      ...(await this.#rows.read((reads) => reads.selfCheck())),
      ...(await this.#archive.faults()),
    ];
  }

  async close(): Promise<void> {
    this.#following.clear();
    await Promise.all([this.#rows.close(), this.#turns.end()]);
  }
}
