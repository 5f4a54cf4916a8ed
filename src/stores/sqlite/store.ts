import type { DatabaseSync } from 'node:sqlite';
import { madeHere } from '#canon';
import type {
  Ahead,
  Batch,
  BlobRow,
  BranchPartition,
  BranchPartitionQuery,
  CommitResult,
  EffectKeyRow,
  EffectPage,
  EffectRefusal,
  EffectStore,
  EffectWrite,
  EntryRow,
  FactHit,
  FactQuery,
  FactStore,
  FactText,
  FactTextQuery,
  FactVector,
  FactVectorQuery,
  FactVersion,
  FactWrite,
  Hash,
  LedgerStore,
  LoggedTransaction,
  LogStep,
  LogStore,
  PartitionName,
  PartitionState,
  RowRange,
  SnapshotRow,
  SnapshotStore,
  Tenure,
  TrajectoryInfo,
} from '#ledger';
import type { OracleRow, OracleStore } from '#oracle';
import { checkAhead } from '../ahead.ts';
import { effectAnswer } from '../effects.ts';
import { StoreError } from '../errors.ts';
import { factSize } from '../facts.ts';
import {
  checkAnswerPage,
  checkBatch,
  checkBranchPartitionQuery,
  checkClaimKey,
  checkCount,
  checkEffectPage,
  checkEffects,
  checkEpoch,
  checkFactQuery,
  checkHash,
  checkLogStep,
  checkNodes,
  checkOracleRow,
  checkPage,
  checkPartition,
  checkPrefix,
  checkSignal,
  checkSnapshotRow,
  checkText,
  checkTextQuery,
  checkVectorQuery,
  checkVectors,
  checkWithin,
  isEmpty,
} from '../input.ts';
import type { VectorSearch } from '../options.ts';
import { rebuild } from '../rebuild.ts';
import { prepareBlob, prepareErasedBy } from './blob.ts';
import { COMMITTED } from './commit.ts';
import { EffectWriter, prepareEffectKey, prepareEffectsOf, prepareListEffects, prepareOpenEffects } from './effects.ts';
import { prepareEntries } from './entries.ts';
import { readonlyError, storeError } from './errors.ts';
import { FactReader, FactWriter } from './facts.ts';
import { prepareFind } from './find.ts';
import { GroupCommit } from './group-commit.ts';
import { HashIndex } from './hash-index.ts';
import { prepareHead } from './head.ts';
import { Indexing } from './indexing.ts';
import {
  prepareIntegrate,
  prepareLogged,
  prepareLogIndex,
  prepareLogNodes,
  prepareLogSize,
  prepareUnlogged,
} from './log.ts';
import { prepareOracleErased, prepareOracleGet, prepareOraclePut, prepareOracleWithin } from './oracle.ts';
import { RankedRows } from './ranked-rows.ts';
import { prepareResolve } from './resolve.ts';
import { whenUnlocked } from './retry.ts';
import { prepareSelfCheck } from './self-check.ts';
import { prepareDropSnapshots, prepareErasures, preparePutSnapshot, prepareSnapshot } from './snapshot.ts';
import { Tenures } from './tenure.ts';
import { TextReader } from './text-reader.ts';
import { QUEUE_MAX, queuedBy, TextWriter } from './text-writer.ts';
import { prepareTrajectories } from './trajectories.ts';
import { Turns } from './turns.ts';
import { VectorReader } from './vector-reader.ts';

/** What `openSqlite` has settled about a connection. */
export interface Connection {
  readonly path: string;
  readonly readonly: boolean;
  readonly lockTimeoutMs: number;
  /** `sqlite-vec` where its functions are those of the connection. */
  readonly vectors: VectorSearch;
}

/**
 * A ledger with its Merkle log, an effect log, an oracle log and what is believed in one SQLite file; made by `openSqlite`. Several processes may have the file open at once.
 *
 * A commit is answered when the disk has it, in groups. Reads see what is committed, also by others. After a failed write
 * every call throws `store_poisoned`, after `close` every call throws `store_closed`; arguments that no row can hold
 * throw `store_invalid_input`, a damaged file `store_corrupt`, a lock that others hold for too long `store_locked`.
 */
export class SqliteStore implements LedgerStore, LogStore, OracleStore, SnapshotStore, EffectStore, FactStore {
  static {
    madeHere(SqliteStore.prototype);
  }

  /** Absolute path of the file. */
  readonly path: string;
  readonly readonly: boolean;
  readonly #db: DatabaseSync;
  readonly #lockTimeoutMs: number;
  readonly #group: GroupCommit;
  readonly #turns: Turns;
  readonly #effects: EffectWriter;
  readonly #tenures: Tenures;
  readonly #facts: FactWriter;
  readonly #factReader: FactReader;
  readonly #texts: TextWriter;
  readonly #textReader: TextReader;
  readonly #vectorReader: VectorReader;
  readonly #resolve: (id: Hash) => EntryRow | undefined;
  readonly #entries: (trajectoryId: string, from: number, limit: number) => EntryRow[];
  readonly #head: (trajectoryId: string) => EntryRow | undefined;
  readonly #trajectories: () => TrajectoryInfo[];
  readonly #blob: (hash: Hash) => string | undefined;
  readonly #erasedBy: (hash: Hash) => Hash | undefined;
  readonly #find: (prefix: string) => EntryRow[];
  readonly #oracleGet: (key: string) => OracleRow | undefined;
  readonly #oraclePut: (row: OracleRow, within?: string) => OracleRow;
  readonly #oracleWithin: ReturnType<typeof prepareOracleWithin>;
  readonly #oracleErased: ReturnType<typeof prepareOracleErased>;
  readonly #logSize: () => number;
  readonly #unlogged: (limit: number) => EntryRow[];
  readonly #integrate: (step: LogStep) => boolean;
  readonly #logNodes: (level: number, from: number, count: number) => (Uint8Array | undefined)[];
  readonly #logIndex: (id: Hash) => number | undefined;
  readonly #logged: (from: number, limit: number) => EntryRow[];
  readonly #snapshot: (trajectoryId: string) => SnapshotRow | undefined;
  readonly #putSnapshot: (row: SnapshotRow, erasures: number) => () => void;
  readonly #dropSnapshots: () => void;
  readonly #erasures: () => number;
  readonly #listEffects: (page: EffectPage) => LoggedTransaction[];
  readonly #openEffects: () => LoggedTransaction[];
  readonly #effectsOf: (epoch: number) => LoggedTransaction | undefined;
  readonly #effectKey: (key: Hash) => EffectKeyRow | undefined;
  readonly #selfCheck: () => string[];
  readonly #indexing: Indexing;
  #closed: Promise<void> | undefined;

  /** Takes over a connection that `openSqlite` has checked and set up, and closes it. */
  constructor(db: DatabaseSync, connection: Connection) {
    this.path = connection.path;
    this.readonly = connection.readonly;
    this.#db = db;
    this.#lockTimeoutMs = connection.lockTimeoutMs;
    const ids = new HashIndex(db, 'entry');
    const blobs = new HashIndex(db, 'blob');
    this.#resolve = prepareResolve(db, ids);
    this.#entries = prepareEntries(db);
    this.#head = prepareHead(db);
    this.#trajectories = prepareTrajectories(db);
    this.#blob = prepareBlob(db, blobs);
    this.#erasedBy = prepareErasedBy(db, blobs);
    this.#find = prepareFind(db, ids);
    this.#oracleGet = prepareOracleGet(db);
    this.#oraclePut = prepareOraclePut(db, this.#oracleGet);
    this.#oracleWithin = prepareOracleWithin(db);
    this.#oracleErased = prepareOracleErased(db);
    this.#logSize = prepareLogSize(db);
    this.#unlogged = prepareUnlogged(db);
    this.#integrate = prepareIntegrate(db, ids, this.#logSize);
    this.#logNodes = prepareLogNodes(db);
    this.#logIndex = prepareLogIndex(db, ids);
    this.#logged = prepareLogged(db);
    this.#snapshot = prepareSnapshot(db);
    this.#putSnapshot = preparePutSnapshot(db);
    this.#dropSnapshots = prepareDropSnapshots(db);
    this.#erasures = prepareErasures(db);
    this.#openEffects = prepareOpenEffects(db);
    this.#listEffects = prepareListEffects(db);
    this.#effectsOf = prepareEffectsOf(db);
    this.#effectKey = prepareEffectKey(db);
    this.#selfCheck = prepareSelfCheck(db);
    this.#effects = new EffectWriter(db);
    this.#texts = new TextWriter(db);
    this.#facts = new FactWriter(db, blobs, this.#texts, connection.path);
    this.#factReader = new FactReader(db, connection.path);
    const rows = new RankedRows(db);
    this.#textReader = new TextReader(db, this.#factReader, rows);
    this.#vectorReader = new VectorReader(db, this.#factReader, rows, connection.vectors);
    this.#group = new GroupCommit(db, { effects: this.#effects, facts: this.#facts, ids, blobs }, connection);
    this.#indexing = new Indexing(
      () => this.#group.run(() => this.#texts.flush(), { rows: QUEUE_MAX, bytes: 0 }),
      () => this.#group.isIdle,
    );
    this.#turns = new Turns(connection.path);
    this.#tenures = new Tenures(connection.path);
  }

  // Not async: that would put three more turns of the microtask queue between the disk and every answer.
  commit(batch: Batch): Promise<CommitResult> {
    try {
      this.#checkWritable();
      checkBatch(batch);
    } catch (error) {
      return Promise.reject(error);
    }
    if (isEmpty(batch)) return Promise.resolve(COMMITTED);
    const committed = this.#group.commit(batch);
    if (batch.facts !== undefined && batch.facts.length > 0) this.#indexing.later(queuedBy(batch.facts));
    return committed;
  }

  async resolve(id: Hash): Promise<EntryRow | undefined> {
    checkHash(id, 'id');
    return this.#read(() => this.#resolve(id));
  }

  async entries(trajectoryId: string, options?: { from?: number; limit?: number }): Promise<EntryRow[]> {
    checkText(trajectoryId, 'trajectory_id');
    const { from, limit } = checkPage(options);
    return this.#read(() => this.#entries(trajectoryId, from, limit));
  }

  async head(trajectoryId: string): Promise<EntryRow | undefined> {
    checkText(trajectoryId, 'trajectory_id');
    return this.#read(() => this.#head(trajectoryId));
  }

  async trajectories(): Promise<TrajectoryInfo[]> {
    return this.#read(this.#trajectories);
  }

  async blob(hash: Hash): Promise<string | undefined> {
    checkHash(hash, 'hash');
    return this.#read(() => this.#blob(hash));
  }

  async erasedBy(hash: Hash): Promise<Hash | undefined> {
    checkHash(hash, 'hash');
    return this.#read(() => this.#erasedBy(hash));
  }

  async find(prefix: string): Promise<EntryRow[]> {
    const lower = checkPrefix(prefix);
    return this.#read(() => this.#find(lower));
  }

  async oracleGet(key: string): Promise<OracleRow | undefined> {
    checkHash(key, 'key');
    return this.#read(() => this.#oracleGet(key));
  }

  async oracleWithin(within: string, page: { readonly after?: string; readonly limit: number }): Promise<OracleRow[]> {
    checkWithin(within, page);
    return this.#read(() => this.#oracleWithin(within, page));
  }

  async oracleErased(page: { readonly after?: string; readonly limit: number }): Promise<OracleRow[]> {
    checkAnswerPage(page);
    return this.#read(() => this.#oracleErased(page));
  }

  async oraclePut(row: OracleRow, within?: string): Promise<OracleRow> {
    this.#checkWritable();
    checkOracleRow(row, within);
    return this.#group.run(() => this.#oraclePut(row, within), { rows: 1, bytes: row.answer.length });
  }

  async logSize(): Promise<number> {
    return this.#read(this.#logSize);
  }

  async unlogged(limit: number): Promise<EntryRow[]> {
    checkPage({ limit });
    return this.#read(() => this.#unlogged(limit));
  }

  async integrate(step: LogStep): Promise<boolean> {
    this.#checkWritable();
    checkLogStep(step);
    const rows = step.leaves.length + step.nodes.length;
    return this.#step(() => this.#integrate(step), { rows, bytes: rows * 40 });
  }

  async logNodes(level: number, from: number, count: number): Promise<(Uint8Array | undefined)[]> {
    checkNodes(level, from, count);
    return this.#read(() => this.#logNodes(level, from, count));
  }

  async logIndex(id: Hash): Promise<number | undefined> {
    checkHash(id, 'id');
    return this.#read(() => this.#logIndex(id));
  }

  async logged(from: number, limit: number): Promise<EntryRow[]> {
    checkPage({ from, limit });
    return this.#read(() => this.#logged(from, limit));
  }

  async snapshot(trajectoryId: string): Promise<SnapshotRow | undefined> {
    checkText(trajectoryId, 'trajectory_id');
    return this.#read(() => this.#snapshot(trajectoryId));
  }

  async putSnapshot(row: SnapshotRow, erasures: number): Promise<void> {
    this.#checkWritable();
    checkSnapshotRow(row);
    checkCount(erasures, 'erasures');
    return this.#group.run(this.#putSnapshot(row, erasures), { rows: 1, bytes: row.text.length });
  }

  async erasures(): Promise<number> {
    return this.#read(this.#erasures);
  }

  async dropSnapshots(): Promise<void> {
    this.#checkWritable();
    return this.#group.run(this.#dropSnapshots, { rows: 1, bytes: 0 });
  }

  async holdEffects(signal?: AbortSignal): Promise<Tenure> {
    this.#checkWritable();
    checkSignal(signal);
    const raise = () => this.#group.run(() => this.#effects.raise(), { rows: 1, bytes: 0 });
    try {
      return await this.#tenures.hold(raise, signal);
    } catch (error) {
      throw signal?.aborted ? error : storeError(error, this.path, 'Working on the effects of');
    }
  }

  async logEffects(
    effects: EffectWrite,
    blobs: readonly BlobRow[] = [],
  ): Promise<{ readonly status: 'written' } | EffectRefusal> {
    checkEffects(effects);
    return effectAnswer(await this.commit({ entries: [], blobs, effects }));
  }

  async openEffects(): Promise<LoggedTransaction[]> {
    return this.#read(this.#openEffects);
  }

  async listEffects(page: EffectPage): Promise<LoggedTransaction[]> {
    checkEffectPage(page);
    return this.#read(() => this.#listEffects(page));
  }

  async effectsOf(epoch: number): Promise<LoggedTransaction | undefined> {
    checkEpoch(epoch);
    return this.#read(() => this.#effectsOf(epoch));
  }

  async effectKey(key: Hash): Promise<EffectKeyRow | undefined> {
    checkHash(key, 'key');
    return this.#read(() => this.#effectKey(key));
  }

  async partition(name: PartitionName): Promise<PartitionState | undefined> {
    checkPartition(name);
    return this.#read(() => {
      const found = this.#factReader.partition(name);
      if (found !== undefined) this.#facts.learn(name, found);
      return found?.state;
    });
  }

  async facts(query: FactQuery): Promise<FactVersion[]> {
    const checked = checkFactQuery(query);
    return this.#read(() => this.#factReader.facts(checked));
  }

  claimKey(offered: Uint8Array): Promise<Uint8Array>;
  claimKey(): Promise<Uint8Array | undefined>;
  async claimKey(offered?: Uint8Array): Promise<Uint8Array | undefined> {
    if (offered !== undefined) checkClaimKey(offered);
    const known = await this.#read(() => this.#factReader.claimKey());
    if (known !== undefined || offered === undefined) return known;
    this.#checkWritable();
    return this.#step(() => this.#facts.claimKey(offered), { rows: 1, bytes: 0 });
  }

  async spaces(): Promise<string[]> {
    return this.#read(() => this.#factReader.spaces());
  }

  async branches(): Promise<{ readonly space: string; readonly branch: string }[]> {
    return this.#read(() => this.#factReader.branches());
  }

  async branchPartitions(query: BranchPartitionQuery): Promise<BranchPartition[]> {
    const checked = checkBranchPartitionQuery(query);
    return this.#read(() => this.#factReader.branchPartitions(checked));
  }

  async factsByText(query: FactTextQuery): Promise<FactHit[]> {
    const checked = checkTextQuery(query);
    if (!this.readonly && (await this.#read(() => this.#textReader.isBehind()))) await this.#index();
    return this.#read(() => this.#textReader.byText(checked));
  }

  async factsByVector(query: FactVectorQuery): Promise<FactHit[]> {
    const checked = checkVectorQuery(query);
    return this.#read(() => this.#vectorReader.byVector(checked));
  }

  async textsToEmbed(embedder: string, space: string, limit: number): Promise<FactText[]> {
    for (const [name, text] of Object.entries({ embedder, space })) checkText(text, name);
    checkPage({ limit });
    if (await this.#read(() => this.#textReader.isWaiting())) await this.#index();
    return this.#read(() => this.#vectorReader.toEmbed(embedder, space, limit));
  }

  async putVectors(embedder: string, vectors: readonly FactVector[]): Promise<void> {
    this.#checkWritable();
    checkVectors(embedder, vectors);
    const bytes = vectors.reduce((sum, { vector }) => sum + vector.byteLength, 0);
    return this.#step(() => this.#texts.putVectors(embedder, vectors), { rows: vectors.length, bytes });
  }

  async rebuildFacts(pages: AsyncIterable<readonly FactWrite[]>): Promise<void> {
    this.#checkWritable();
    return rebuild(pages, {
      begin: () => this.#step(() => this.#facts.beginRebuilding(), { rows: 1, bytes: 0 }),
      deleteSome: (run) => this.#step(() => this.#facts.deleteSome(run), { rows: 1, bytes: 0 }),
      takeIn: (writes, run) => this.#step(() => this.#facts.takeIn(writes, run), factSize(writes)),
      end: (run) => this.#step(() => this.#facts.endRebuilding(run), { rows: 1, bytes: 0 }),
    });
  }

  async scrub(): Promise<void> {
    this.#checkWritable();
    return this.#group.scrub();
  }

  async turn(trajectoryId: string): Promise<(() => void) | undefined> {
    this.#checkWritable();
    checkText(trajectoryId, 'trajectory_id');
    return this.#turns.take();
  }

  checkAhead(ranges: readonly RowRange[]): Ahead {
    this.#checkUsable();
    return checkAhead(`sqlite:${this.path}`, ranges);
  }

  async selfCheck(): Promise<string[]> {
    return this.#read(this.#selfCheck);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#indexing.end();
    this.#tenures.refuse(this.#closedError());
    await this.#group.idle();
    this.#tenures.end();
    await this.#turns.end();
    if (!this.#db.isOpen) return; // a failed write has closed it
    try {
      if (!this.readonly) this.#group.end();
      // Busy where others have the file open; the last one to close copies the rest.
      if (!this.readonly) this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch (error) {
      throw storeError(error, this.path, 'Closing');
    } finally {
      this.#db.close();
    }
  }

  /** Indexes the texts of all facts that are committed. */
  async #index(): Promise<void> {
    this.#indexing.caughtUp();
    while (await this.#step(() => this.#texts.flush(), { rows: QUEUE_MAX, bytes: 0 }));
  }

  /** A step that may refuse: what it has written by then stays. */
  async #step<T>(write: () => T, size: { readonly rows: number; readonly bytes: number }): Promise<T> {
    this.#checkWritable();
    const answer = await this.#group.run(() => {
      try {
        return { value: write() };
      } catch (error) {
        if (error instanceof StoreError) return { error };
        throw error;
      }
    }, size);
    if ('error' in answer) throw answer.error;
    return answer.value;
  }

  async #read<T>(step: () => T): Promise<T> {
    try {
      return await whenUnlocked(
        () => {
          this.#checkUsable();
          return step();
        },
        this.path,
        this.#lockTimeoutMs,
      );
    } catch (error) {
      throw storeError(error, this.path, 'Reading');
    }
  }

  #checkUsable(): void {
    if (this.#closed !== undefined) throw this.#closedError();
    if (this.#group.failure !== undefined) throw this.#group.failure;
  }

  #closedError(): StoreError {
    return new StoreError('store_closed', `The store ${this.path} is closed; open it again to use it.`, {
      evidence: { path: this.path },
    });
  }

  #checkWritable(): void {
    this.#checkUsable();
    if (this.readonly) throw readonlyError(this.path, 'it was opened with mode readonly');
  }
}
