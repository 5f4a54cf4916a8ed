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
  OpenEffectPage,
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
import {
  checkAnswerPage,
  checkBatch,
  checkBranchPartitionQuery,
  checkClaimKey,
  checkEffectPage,
  checkEffects,
  checkEpoch,
  checkFactQuery,
  checkHash,
  checkNodes,
  checkOpenPage,
  checkPage,
  checkPartition,
  checkPrefix,
  checkSignal,
  checkSnapshotRow,
  checkText,
  checkTextQuery,
  checkVectorQuery,
  checkWithin,
  isEmpty,
} from '../input.ts';
import type { VectorSearch } from '../options.ts';
import { rebuild } from '../rebuild.ts';
import { prepareBlob, prepareErasedBy } from './blob.ts';
import { COMMITTED, type Indexes } from './commit.ts';
import {
  prepareEffectKey,
  prepareEffectsOf,
  prepareListEffects,
  prepareOpenEffects,
  prepareWereEffectsHeld,
} from './effects.ts';
import { prepareEntries } from './entries.ts';
import { readonlyError, storeError } from './errors.ts';
import { FactReader } from './facts.ts';
import { prepareFind } from './find.ts';
import { prepareHead } from './head.ts';
import { prepareLogged, prepareLogIndex, prepareLogNodes, prepareLogSize, prepareUnlogged } from './log.ts';
import { prepareOracleErased, prepareOracleGet, prepareOracleWithin } from './oracle.ts';
import { RankedRows } from './ranked-rows.ts';
import { prepareResolve } from './resolve.ts';
import { whenUnlocked } from './retry.ts';
import { prepareSelfCheck } from './self-check.ts';
import { prepareErasures, prepareSnapshot } from './snapshot.ts';
import { checkStep, type StepName, type Steps } from './steps.ts';
import { Tenures } from './tenure.ts';
import { TextReader } from './text-reader.ts';
import { prepareTrajectories } from './trajectories.ts';
import { Turns } from './turns.ts';
import { VectorReader } from './vector-reader.ts';
import type { Writing } from './writing.ts';

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
  readonly #writing: Writing;
  readonly #turns: Turns;
  readonly #tenures: Tenures;
  readonly #factReader: FactReader;
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
  readonly #oracleWithin: ReturnType<typeof prepareOracleWithin>;
  readonly #oracleErased: ReturnType<typeof prepareOracleErased>;
  readonly #logSize: () => number;
  readonly #unlogged: (limit: number) => EntryRow[];
  readonly #logNodes: (level: number, from: number, count: number) => (Uint8Array | undefined)[];
  readonly #logIndex: (id: Hash) => number | undefined;
  readonly #logged: (from: number, limit: number) => EntryRow[];
  readonly #snapshot: (trajectoryId: string) => SnapshotRow | undefined;
  readonly #erasures: () => number;
  readonly #listEffects: (page: EffectPage) => LoggedTransaction[];
  readonly #openEffects: (page: OpenEffectPage) => LoggedTransaction[];
  readonly #effectsOf: (epoch: number) => LoggedTransaction | undefined;
  readonly #effectKey: (key: Hash) => EffectKeyRow | undefined;
  readonly #wereEffectsHeld: () => boolean;
  readonly #selfCheck: () => string[];
  #closed: Promise<void> | undefined;

  /** Takes over a connection that `openSqlite` has checked and set up, and what writes; both are closed with it. */
  constructor(db: DatabaseSync, { ids, blobs }: Indexes, writing: Writing, connection: Connection) {
    this.path = connection.path;
    this.readonly = connection.readonly;
    this.#db = db;
    this.#writing = writing;
    this.#lockTimeoutMs = connection.lockTimeoutMs;
    this.#resolve = prepareResolve(db, ids);
    this.#entries = prepareEntries(db);
    this.#head = prepareHead(db);
    this.#trajectories = prepareTrajectories(db);
    this.#blob = prepareBlob(db, blobs);
    this.#erasedBy = prepareErasedBy(db, blobs);
    this.#find = prepareFind(db, ids);
    this.#oracleGet = prepareOracleGet(db);
    this.#oracleWithin = prepareOracleWithin(db);
    this.#oracleErased = prepareOracleErased(db);
    this.#logSize = prepareLogSize(db);
    this.#unlogged = prepareUnlogged(db);
    this.#logNodes = prepareLogNodes(db);
    this.#logIndex = prepareLogIndex(db, ids);
    this.#logged = prepareLogged(db);
    this.#snapshot = prepareSnapshot(db);
    this.#erasures = prepareErasures(db);
    this.#openEffects = prepareOpenEffects(db);
    this.#listEffects = prepareListEffects(db);
    this.#effectsOf = prepareEffectsOf(db);
    this.#effectKey = prepareEffectKey(db);
    this.#wereEffectsHeld = prepareWereEffectsHeld(db);
    this.#selfCheck = prepareSelfCheck(db);
    this.#factReader = new FactReader(db, connection.path);
    const rows = new RankedRows(db);
    this.#textReader = new TextReader(db, this.#factReader, rows);
    this.#vectorReader = new VectorReader(db, this.#factReader, rows, connection.vectors);
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
    return this.#writing.commit(batch);
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
    return this.#step('oraclePut', row, within);
  }

  async logSize(): Promise<number> {
    return this.#read(this.#logSize);
  }

  async unlogged(limit: number): Promise<EntryRow[]> {
    checkPage({ limit });
    return this.#read(() => this.#unlogged(limit));
  }

  async integrate(step: LogStep): Promise<boolean> {
    return this.#step('integrate', step);
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
    // As it is now: it is written later.
    const { trajectory_id, seq, hash, text } = row;
    return this.#step('putSnapshot', { trajectory_id, seq, hash, text }, erasures);
  }

  async erasures(): Promise<number> {
    return this.#read(this.#erasures);
  }

  async dropSnapshots(): Promise<void> {
    return this.#step('dropSnapshots');
  }

  async holdEffects(signal?: AbortSignal): Promise<Tenure> {
    this.#checkWritable();
    checkSignal(signal);
    try {
      return await this.#tenures.hold(() => this.#step('raise'), signal);
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

  async openEffects(page: OpenEffectPage = {}): Promise<LoggedTransaction[]> {
    checkOpenPage(page);
    return this.#read(() => this.#openEffects(page));
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

  async wereEffectsHeld(): Promise<boolean> {
    return this.#read(this.#wereEffectsHeld);
  }

  async partition(name: PartitionName): Promise<PartitionState | undefined> {
    checkPartition(name);
    return this.#read(() => {
      const found = this.#factReader.partition(name);
      if (found !== undefined) this.#writing.learn(name, found);
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
    return this.#step('claimKey', offered);
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
    return this.#step('putVectors', embedder, vectors);
  }

  async rebuildFacts(pages: AsyncIterable<readonly FactWrite[]>): Promise<void> {
    this.#checkWritable();
    return rebuild(pages, {
      begin: () => this.#step('beginRebuilding'),
      deleteSome: (run) => this.#step('deleteSome', run),
      takeIn: (writes, run) => this.#step('takeIn', writes, run),
      end: (run) => this.#step('endRebuilding', run),
    });
  }

  async scrub(): Promise<void> {
    this.#checkWritable();
    return this.#writing.scrub();
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
    this.#tenures.refuse(this.#closedError());
    await this.#writing.idle();
    this.#tenures.end();
    await this.#turns.end();
    if (!this.#db.isOpen) return; // a failed write has closed it
    try {
      if (!this.readonly) await this.#writing.end();
    } catch (error) {
      throw storeError(error, this.path, 'Closing');
    } finally {
      // A write that failed by then has closed it.
      if (this.#db.isOpen) this.#db.close();
    }
  }

  /** Indexes the texts of all facts that are committed. */
  async #index(): Promise<void> {
    do this.#checkWritable();
    while (await this.#writing.index());
  }

  async #step<Name extends StepName>(name: Name, ...given: Parameters<Steps[Name]>): Promise<ReturnType<Steps[Name]>> {
    this.#checkWritable();
    checkStep(name, given);
    return this.#writing.step(name, ...given);
  }

  /** What is there at once is no promise: most reads are short, and waiting for one takes as long as half of it. */
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
    if (this.#closed !== undefined) throw this.#closedError();
    if (this.#writing.failure !== undefined) throw this.#writing.failure;
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
