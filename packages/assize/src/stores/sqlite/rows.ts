import type { DatabaseSync } from 'node:sqlite';
import type { Lease } from '#ledger';
import { closedError } from '../errors.ts';
import type { NativePort, Writes } from '../native-port.ts';
import type { VectorSearch } from '../options.ts';
import { rebuild } from '../rebuild.ts';
import { whenUnlocked } from './connection/retry.ts';
import type { Leases } from './effects/lease.ts';
import { readonlyError, storeError } from './errors.ts';
import { prepareReads, type SqliteReads } from './reads.ts';
import type { Indexes } from './writer/commit.ts';
import type { WriteOperationName, WriteOperations } from './writer/operations.ts';
import type { FileWriter } from './writer/writer.ts';

export interface RowsOptions {
  /** Names the store in errors. */
  readonly path: string;
  readonly readonly: boolean;
  readonly lockTimeoutMs: number;
  /** `sqlite-vec` if the connection has loaded its functions. */
  readonly vectors: VectorSearch;
  readonly leases: Leases;
}

/**
 * The rows behind the ports of a store: reads over one connection, and a writer. A search first
 * indexes the texts that wait.
 */
export class SqliteRows implements NativePort {
  readonly db: DatabaseSync;
  readonly writing: FileWriter;
  readonly #options: RowsOptions;
  readonly #reads: SqliteReads;
  readonly #writes: Writes;
  #closed: Promise<void> | undefined;

  constructor(db: DatabaseSync, indexes: Indexes, writing: FileWriter, options: RowsOptions) {
    this.db = db;
    this.writing = writing;
    this.#options = options;
    const reads = prepareReads(
      db,
      indexes,
      (name, found) => writing.learn(name, found),
      options.path,
      options.vectors,
    );
    this.#reads = {
      ...reads,
      factsByText: (query) => {
        const find = () => reads.factsByText(query);
        return !options.readonly && reads.isBehind() ? this.#onceIndexed(find) : find();
      },
      textsToEmbed: (...query) => {
        const find = () => reads.textsToEmbed(...query);
        return reads.isWaiting() ? this.#onceIndexed(find) : find();
      },
    };
    this.#writes = {
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
          begin: () => this.step('beginRebuilding'),
          deleteSome: (run) => this.step('deleteSome', run),
          takeIn: (some, run) => this.step('takeIn', some, run),
          end: (run) => this.step('endRebuilding', run),
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
  }

  /**
   * Returns an immediate answer without a promise. Most reads are short, and awaiting a promise
   * takes half of their time.
   */
  read<T>(step: (reads: SqliteReads) => T | Promise<T>): T | Promise<T> {
    const usable = (): T => {
      this.checkUsable();
      return step(this.#reads) as T;
    };
    try {
      const read = whenUnlocked(usable, this.#options.path, this.#options.lockTimeoutMs);
      return read instanceof Promise ? read.catch(this.#refuse) : read;
    } catch (error) {
      return this.#refuse(error);
    }
  }

  writes(): Writes {
    this.checkWritable();
    return this.#writes;
  }

  async step<Name extends WriteOperationName>(
    name: Name,
    ...given: Parameters<WriteOperations[Name]>
  ): Promise<ReturnType<WriteOperations[Name]>> {
    this.checkWritable();
    return this.writing.step(name, ...given);
  }

  /** Indexes the texts of all committed facts. */
  async index(): Promise<void> {
    do this.checkWritable();
    while (await this.writing.index());
  }

  checkUsable(): void {
    if (this.#closed !== undefined) throw closedError(this.#options.path);
    if (this.writing.failure !== undefined) throw this.writing.failure;
  }

  checkWritable(): void {
    this.checkUsable();
    if (this.#options.readonly)
      throw readonlyError(this.#options.path, 'it was opened with mode readonly');
  }

  /** Ends waits for the lease, and closes the connection after the last write. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const { path, readonly, leases } = this.#options;
    leases.refuse(closedError(path));
    await this.writing.idle();
    leases.end();
    if (!this.db.isOpen) return; // a failed write has closed it
    try {
      if (!readonly) await this.writing.end();
    } catch (error) {
      throw storeError(error, path, 'Closing');
    } finally {
      // A failed write may have closed the connection in the meantime.
      if (this.db.isOpen) this.db.close();
    }
  }

  async #onceIndexed<T>(find: () => T | Promise<T>): Promise<T> {
    await this.index();
    return find();
  }

  async #hold(signal: AbortSignal | undefined): Promise<Lease> {
    try {
      return await this.#options.leases.acquire(() => this.step('raise'), signal);
    } catch (error) {
      throw signal?.aborted
        ? error
        : storeError(error, this.#options.path, 'Working on the effects of');
    }
  }

  readonly #refuse = (error: unknown): never => {
    throw storeError(error, this.#options.path, 'Reading');
  };
}
