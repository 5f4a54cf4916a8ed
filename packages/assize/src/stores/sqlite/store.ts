import { chmodSync, statfsSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { arg, markOwnPackage } from '#base';
import type { FactHit, FactReads, FactText, FactTextQuery, Lease, ParallelReader, RowRange } from '#ledger';
import {
  type Archivable,
  type ArchiveOptions,
  type ArchiveReport,
  archiveEntries,
} from '../archive/archive-entries.ts';
import type { ArchiveState } from '../archive/port.ts';
import { StoreArchive } from '../archive/store-archive.ts';
import { checkInput, POSITIVE, TEXT } from '../check-input.ts';
import { CheckedStore } from '../checked-store.ts';
import { sealsOf } from '../entry-seals.ts';
import { closedError } from '../errors.ts';
import { checkTextQuery } from '../fact-input.ts';
import type { Followable, StoreEvent } from '../follow.ts';
import type { InPlace } from '../in-place.ts';
import { RETIREMENT, SNAPSHOT_READ } from '../input.ts';
import type { NativePort, Reads, Writes } from '../native-port.ts';
import type { VectorSearch } from '../options.ts';
import { readInParallel } from '../parallel-reader.ts';
import { factReads } from '../read-snapshot.ts';
import { rebuild } from '../rebuild.ts';
import type { Retirable, Retirement } from '../retirement.ts';
import { copyDatabase } from './connection/database.ts';
import { checkPath, createLater } from './connection/file.ts';
import type { OpenFiles } from './connection/open-files.ts';
import { whenUnlocked } from './connection/retry.ts';
import { Leases } from './effects/lease.ts';
import { diskFullError, readonlyError, storeError } from './errors.ts';
import { snapshotReads } from './facts/snapshot-read.ts';
import { prepareReads, type SqliteReads } from './reads.ts';
import { vacuum } from './vacuum.ts';
import type { Indexes } from './writer/commit.ts';
import type { WriteOperationName, WriteOperations } from './writer/operations.ts';
import { WriteLocks } from './writer/write-turns.ts';
import type { FileWriter } from './writer/writer.ts';

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
   * The result of `make` for one more connection, which only reads. The function closes the
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
export class SqliteStore extends CheckedStore implements Followable, Retirable, Archivable, InPlace {
  static {
    markOwnPackage(SqliteStore.prototype);
  }

  /** The absolute path of the file. */
  readonly path: string;
  readonly readonly: boolean;
  readonly #db: DatabaseSync;
  readonly #lockTimeoutMs: number;
  readonly #vectors: VectorSearch;
  readonly #archive: StoreArchive;
  readonly #place: string | undefined;
  readonly #rootKeys: readonly string[] | undefined;
  readonly #files: OpenFiles | undefined;
  readonly #another: Connection['another'];
  readonly #reads: SqliteReads;
  readonly #writing: FileWriter;
  readonly #turns: WriteLocks;
  readonly #tenures: Leases;
  readonly #following: Set<() => Promise<void>> = new Set();
  #closed: Promise<void> | undefined;

  /**
   * Accepts a connection that `openSqlite` has checked and set up, and the writer. `close` closes
   * both.
   */
  constructor(db: DatabaseSync, indexes: Indexes, writing: FileWriter, connection: Connection) {
    const { path, readonly, lockTimeoutMs, vectors } = connection;
    const reads = prepareReads(db, indexes, (name, found) => writing.learn(name, found), path, vectors);
    const writes: Writes = {
      commit: (batch) => writing.commit(batch),
      oraclePut: (row, within) => writing.step('oraclePut', row, within),
      integrate: (step) => writing.step('integrate', step),
      putSnapshot: (row, erasures) => writing.step('putSnapshot', row, erasures),
      dropSnapshots: () => writing.step('dropSnapshots'),
      leaseEffects: (signal) => this.#hold(signal),
      adopt: (adoption) => writing.step('adopt', adoption),
      claimKey: (offered) => writing.step('claimKey', offered),
      putVectors: (embedder, given) => writing.step('putVectors', embedder, given),
      rebuildFacts: (pages) =>
        rebuild(pages, {
          begin: () => this.#step('beginRebuilding'),
          deleteSome: (run) => this.#step('deleteSome', run),
          takeIn: (some, run) => this.#step('takeIn', some, run),
          end: (run) => this.#step('endRebuilding', run),
        }),
      keepFacts: () => writing.step('keepFacts'),
      sidePut: (changes) => writing.step('sidePut', changes),
      sealSome: (seals, after) => writing.step('sealSome', seals, after),
      archived: {
        beginFiles: (archive, files) => writing.step('beginFiles', archive, files),
        archiveSegment: (step) => writing.step('archiveSegment', step),
        replaceFile: (files) => writing.step('replaceFile', files),
        discardFiles: (files) => writing.step('discardFiles', files),
        forgetFiles: (files) => writing.step('forgetFiles', files),
      },
    };
    const access: NativePort = {
      // Every SQLite read answers synchronously.
      read: <T>(step: (reads: Reads) => T | Promise<T>) => this.#read(() => step(reads) as T),
      writes: () => {
        this.#checkWritable();
        return writes;
      },
    };
    const archive = new StoreArchive(access, connection.archive);
    super(access, archive, sealsOf(connection.rootKeys));
    this.#archive = archive;
    this.path = path;
    this.readonly = readonly;
    this.#db = db;
    this.#lockTimeoutMs = lockTimeoutMs;
    this.#vectors = vectors;
    this.#place = connection.archive;
    this.#rootKeys = connection.rootKeys;
    this.#files = connection.files;
    this.#another = connection.another;
    this.#reads = reads;
    this.#writing = writing;
    // Uses SQLite's name of the file, because a link and its target are the same file.
    const file = db.location() ?? path;
    this.#turns = new WriteLocks(file);
    this.#tenures = new Leases(file);
  }

  override async factsByText(query: FactTextQuery): Promise<FactHit[]> {
    checkTextQuery(query);
    if (!this.readonly && (await this.#read(() => this.#reads.isBehind()))) await this.#index();
    return super.factsByText(query);
  }

  override async textsToEmbed(embedder: string, space: string, limit: number): Promise<FactText[]> {
    checkInput(TEXT, embedder, 'embedder');
    checkInput(TEXT, space, 'space');
    checkInput(POSITIVE, limit, 'limit');
    if (await this.#read(() => this.#reads.isWaiting())) await this.#index();
    return super.textsToEmbed(embedder, space, limit);
  }

  async withReadSnapshot<T>(
    read: (facts: FactReads) => Promise<T>,
    options?: { readonly byText?: boolean },
  ): Promise<T> {
    checkInput(arg.code, read, 'read');
    checkInput(SNAPSHOT_READ, options, 'options');
    if (options?.byText === true && !this.readonly && (await this.#read(() => this.#reads.isBehind())))
      await this.#index();
    // A separate connection, so other readers see commits in the meantime.
    const { db, facts } = await this.#read(() =>
      this.#another((db) => ({ db, facts: snapshotReads(db, this.path, this.#vectors) })),
    );
    try {
      return await read(factReads(facts, async (step) => this.#read(step)));
    } finally {
      db.close();
    }
  }

  async retire(retirement: Retirement): Promise<void> {
    this.#checkWritable();
    checkInput(RETIREMENT, retirement, 'retirement');
    return this.#writing.step('retire', retirement);
  }

  /**
   * Copies the store as of one moment into a new file, while this and other processes write.
   * `accept` receives the copy before it has its name. If `accept` returns false, the copy is
   * deleted.
   *
   * @throws {StoreError} `store_not_found` for a missing folder, `store_failed` if the file exists
   */
  async copyInto(file: string, accept: (copy: string) => Promise<boolean> = async () => true): Promise<boolean> {
    this.#checkUsable();
    checkInput(TEXT, file, 'file');
    checkInput(arg.code, accept, 'accept');
    const path = checkPath(file);
    const from = this.#another((db) => db);
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
      throw error instanceof Error && 'syscall' in error ? storeError(error, path, 'Copying to') : error;
    } finally {
      from.close();
    }
  }

  async scrub(): Promise<void> {
    this.#checkWritable();
    // First, because the counters of erasures show the rest of the work until the end of all of it.
    try {
      await this.#archive.scrub(this);
    } finally {
      await this.#writing.scrub();
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
    this.#checkWritable();
    try {
      await vacuum(this.path, this.#lockTimeoutMs);
    } catch (error) {
      throw storeError(error, this.path, 'Vacuuming');
    }
  }

  async archiveState(): Promise<ArchiveState | undefined> {
    return this.#archive.state();
  }

  async acquireWriteLock(trajectoryId: string): Promise<(() => void) | undefined> {
    this.#checkWritable();
    checkInput(TEXT, trajectoryId, 'trajectoryId');
    return this.#turns.acquire();
  }

  readInParallel(ranges: readonly RowRange[]): ParallelReader {
    this.#checkUsable();
    return readInParallel({ url: `sqlite:${this.path}`, archive: this.#place, rootKeys: this.#rootKeys }, ranges);
  }

  requireInPlace(): void {
    this.#checkUsable();
    this.#files?.requireNamed();
  }

  requireSpace(): void {
    if (!this.#writing.isDiskFull) return;
    const { bavail, bsize } = statfsSync(this.path);
    if (bavail * bsize < SPACE_MIN) throw diskFullError(this.path);
  }

  /** Looks every `FOLLOW_MS` whether another connection has committed, and says `missed` then. */
  async follow(listener: (news: StoreEvent) => void): Promise<() => Promise<void>> {
    checkInput(arg.code, listener, 'listener');
    const version = (): unknown => this.#db.prepare('PRAGMA data_version').get()?.['data_version'];
    let seen = await this.#read(version);
    const look = async (): Promise<void> => {
      // Undefined if it cannot be read now. What was missed meanwhile is told when it can.
      const now = await (async () => this.#read(version))().catch(() => undefined);
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
    return [...(await this.#read(() => this.#reads.selfCheck())), ...(await this.#archive.faults())];
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#following.clear();
    this.#tenures.refuse(closedError(this.path));
    await this.#writing.idle();
    this.#tenures.end();
    await this.#turns.end();
    if (!this.#db.isOpen) return; // a failed write has closed it
    try {
      if (!this.readonly) await this.#writing.end();
    } catch (error) {
      throw storeError(error, this.path, 'Closing');
    } finally {
      // A failed write may have closed the connection in the meantime.
      if (this.#db.isOpen) this.#db.close();
    }
  }

  /** Indexes the texts of all committed facts. */
  async #index(): Promise<void> {
    do this.#checkWritable();
    while (await this.#writing.index());
  }

  async #hold(signal: AbortSignal | undefined): Promise<Lease> {
    try {
      return await this.#tenures.acquire(() => this.#step('raise'), signal);
    } catch (error) {
      throw signal?.aborted ? error : storeError(error, this.path, 'Working on the effects of');
    }
  }

  async #step<Name extends WriteOperationName>(
    name: Name,
    ...given: Parameters<WriteOperations[Name]>
  ): Promise<ReturnType<WriteOperations[Name]>> {
    this.#checkWritable();
    return this.#writing.step(name, ...given);
  }

  /**
   * Returns an immediate answer without a promise. Most reads are short, and awaiting a promise
   * takes half of their time.
   */
  #read<T>(step: () => T): T | Promise<T> {
    const usable = (): T => {
      this.#checkUsable();
      return step();
    };
    try {
      const read = whenUnlocked(usable, this.path, this.#lockTimeoutMs);
      return read instanceof Promise ? read.catch(this.#refuse) : read;
    } catch (error) {
      return this.#refuse(error);
    }
  }

  readonly #refuse = (error: unknown): never => {
    throw storeError(error, this.path, 'Reading');
  };

  #checkUsable(): void {
    if (this.#closed !== undefined) throw closedError(this.path);
    if (this.#writing.failure !== undefined) throw this.#writing.failure;
  }

  #checkWritable(): void {
    this.#checkUsable();
    if (this.readonly) throw readonlyError(this.path, 'it was opened with mode readonly');
  }
}
