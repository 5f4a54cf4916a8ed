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
  Membership,
  OpenEffectPage,
  PartitionName,
  PartitionState,
  RowRange,
  SharedEffectStore,
  SnapshotRow,
  SnapshotStore,
  Tenure,
  TrajectoryInfo,
} from '#ledger';
import type { OracleRow, OracleStore } from '#oracle';
import { checkAhead } from '../ahead.ts';
import { effectAnswer } from '../effects.ts';
import { StoreError } from '../errors.ts';
import type { Followable, News } from '../follow.ts';
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
  checkOpenPage,
  checkOracleRow,
  checkPage,
  checkPartition,
  checkPrefix,
  checkSharing,
  checkSignal,
  checkSnapshotRow,
  checkText,
  checkTextQuery,
  checkVectorQuery,
  checkVectors,
  checkWithin,
  isEmpty,
} from '../input.ts';
import { rebuild } from '../rebuild.ts';
import { prepareBlob, prepareErasedBy } from './blob.ts';
import { COMMITTED } from './commit.ts';
import {
  prepareEffectKey,
  prepareEffectsOf,
  prepareListEffects,
  prepareOpenEffects,
  prepareWereEffectsHeld,
} from './effects.ts';
import { prepareEntries } from './entries.ts';
import { readonlyError, storeError } from './errors.ts';
import {
  prepareBranches,
  prepareBranchPartitions,
  prepareClaimKey,
  prepareFacts,
  preparePartition,
  prepareSpaces,
  rebuildSteps,
} from './facts.ts';
import { prepareFind } from './find.ts';
import { Following } from './follow.ts';
import { GroupCommit } from './group-commit.ts';
import { prepareHead } from './head.ts';
import {
  prepareIntegrate,
  prepareLogged,
  prepareLogIndex,
  prepareLogNodes,
  prepareLogSize,
  prepareUnlogged,
} from './log.ts';
import { prepareJoin } from './members.ts';
import { prepareOracleErased, prepareOracleGet, prepareOracleWithin } from './oracle.ts';
import type { Readers } from './readers.ts';
import { prepareResolve } from './resolve.ts';
import { Scrubber, type ScrubberOptions } from './scrub.ts';
import { prepareSelfCheck } from './self-check.ts';
import type { Session } from './session.ts';
import { prepareDropSnapshots, prepareErasures, preparePutSnapshot, prepareSnapshot } from './snapshot.ts';
import { prepareRaise, type Tenures } from './tenure.ts';
import { prepareFactsByText, prepareFactsByVector, prepareTextsToEmbed, putVectors } from './texts.ts';
import { prepareTrajectories } from './trajectories.ts';
import type { Turns } from './turns.ts';
import type { Writer } from './writer.ts';

/** What `openPostgres` has settled about a store. */
export interface Connections {
  readonly url: string;
  readonly path: string;
  readonly schema: string;
  readonly readers: Readers;
  /** None in a store that is only read. */
  readonly writer: Writer | undefined;
  /** For those who write. */
  readonly turns: Turns;
  readonly tenures: Tenures;
  readonly tell: boolean;
  /** None where what was erased is left in the files, for somebody else to take out. */
  readonly scrubbing: Pick<ScrubberOptions, 'lockTimeoutMs' | 'open'> | undefined;
  readonly open: () => Promise<Session>;
}

/**
 * A ledger with its Merkle log, an effect log, an oracle log and what is believed in one schema of a PostgreSQL database; made by `openPostgres`. Any number
 * of processes may have it open, also to write to one trajectory: of those who append at one place, one is committed and the
 * others are conflicts.
 *
 * A commit is answered when the server has it on disk, in groups. Reads see what is committed, also by others. A connection
 * that is lost is replaced: reads and what was not sent yet go over the next one, a commit that was under way is `unknown`,
 * and `resolve` waits until it can tell. After `close` every call throws `store_closed`; arguments that no row can hold throw
 * `store_invalid_input`, a server that can't be reached `store_unreachable`, other refusals as `errors.ts` says.
 */
export class PostgresStore
  implements LedgerStore, LogStore, OracleStore, SnapshotStore, SharedEffectStore, FactStore, Followable
{
  static {
    madeHere(PostgresStore.prototype);
  }

  /** Where the store is: a URL without user, password and settings. */
  readonly path: string;
  readonly readonly: boolean;
  readonly #connections: Connections;
  readonly #group: GroupCommit | undefined;
  readonly #scrubber: Scrubber | undefined;
  readonly #followings = new Set<Following>();
  readonly #resolve: (id: Hash) => Promise<EntryRow | undefined>;
  readonly #entries: (trajectoryId: string, from: number, limit: number) => Promise<EntryRow[]>;
  readonly #head: (trajectoryId: string) => Promise<EntryRow | undefined>;
  readonly #trajectories: () => Promise<TrajectoryInfo[]>;
  readonly #blob: (hash: Hash) => Promise<string | undefined>;
  readonly #erasedBy: (hash: Hash) => Promise<Hash | undefined>;
  readonly #find: (prefix: string) => Promise<EntryRow[]>;
  readonly #oracleGet: (key: string) => Promise<OracleRow | undefined>;
  readonly #oracleWithin: ReturnType<typeof prepareOracleWithin>;
  readonly #oracleErased: ReturnType<typeof prepareOracleErased>;
  readonly #logSize: () => Promise<number>;
  readonly #unlogged: (limit: number) => Promise<EntryRow[]>;
  readonly #integrate: (step: LogStep) => (session: Session) => Promise<boolean>;
  readonly #logNodes: (level: number, from: number, count: number) => Promise<(Uint8Array | undefined)[]>;
  readonly #logIndex: (id: Hash) => Promise<number | undefined>;
  readonly #logged: (from: number, limit: number) => Promise<EntryRow[]>;
  readonly #snapshot: (trajectoryId: string) => Promise<SnapshotRow | undefined>;
  readonly #putSnapshot: (row: SnapshotRow, erasures: number) => (session: Session) => Promise<void>;
  readonly #dropSnapshots: (session: Session) => Promise<void>;
  readonly #erasures: () => Promise<number>;
  readonly #raise: (session: Session) => Promise<Pick<Tenure, 'fence' | 'lastEpoch'>>;
  readonly #listEffects: (page: EffectPage) => Promise<LoggedTransaction[]>;
  readonly #openEffects: (page: OpenEffectPage) => Promise<LoggedTransaction[]>;
  readonly #effectsOf: (epoch: number) => Promise<LoggedTransaction | undefined>;
  readonly #effectKey: (key: Hash) => Promise<EffectKeyRow | undefined>;
  readonly #partition: (name: PartitionName) => Promise<PartitionState | undefined>;
  readonly #facts: (query: FactQuery & { readonly limit: number }) => Promise<FactVersion[]>;
  readonly #branches: () => Promise<{ readonly space: string; readonly branch: string }[]>;
  readonly #branchPartitions: (query: BranchPartitionQuery & { readonly limit: number }) => Promise<BranchPartition[]>;
  readonly #claimKey: ReturnType<typeof prepareClaimKey>;
  readonly #spaces: () => Promise<string[]>;
  readonly #factsByText: (query: FactTextQuery & { readonly limit: number }) => Promise<FactHit[]>;
  readonly #factsByVector: (query: FactVectorQuery & { readonly limit: number }) => Promise<FactHit[]>;
  readonly #textsToEmbed: (embedder: string, space: string, limit: number) => Promise<FactText[]>;
  readonly #wereEffectsHeld: () => Promise<boolean>;
  readonly #selfCheck: () => Promise<string[]>;
  #closed: Promise<void> | undefined;

  /** Takes over connections that `openPostgres` has checked and set up, and ends them. */
  constructor(connections: Connections) {
    const { path, schema, readers, writer, scrubbing } = connections;
    this.path = path;
    this.readonly = writer === undefined;
    this.#connections = connections;
    this.#group = writer && new GroupCommit({ ...connections, writer });
    this.#scrubber = this.#group && scrubbing && new Scrubber({ ...scrubbing, path, schema, group: this.#group });
    this.#resolve = prepareResolve(readers, schema);
    this.#entries = prepareEntries(readers, schema);
    this.#head = prepareHead(readers, schema);
    this.#trajectories = prepareTrajectories(readers, schema);
    this.#blob = prepareBlob(readers, schema);
    this.#erasedBy = prepareErasedBy(readers, schema);
    this.#find = prepareFind(readers, schema);
    this.#oracleGet = prepareOracleGet(readers, schema);
    this.#oracleWithin = prepareOracleWithin(readers, schema);
    this.#oracleErased = prepareOracleErased(readers, schema);
    this.#logSize = prepareLogSize(readers, schema);
    this.#unlogged = prepareUnlogged(readers, schema);
    this.#integrate = prepareIntegrate(schema);
    this.#logNodes = prepareLogNodes(readers, schema);
    this.#logIndex = prepareLogIndex(readers, schema);
    this.#logged = prepareLogged(readers, schema);
    this.#snapshot = prepareSnapshot(readers, schema);
    this.#putSnapshot = preparePutSnapshot(schema);
    this.#dropSnapshots = prepareDropSnapshots(schema);
    this.#erasures = prepareErasures(readers, schema);
    this.#raise = prepareRaise(schema);
    this.#openEffects = prepareOpenEffects(readers, schema);
    this.#listEffects = prepareListEffects(readers, schema);
    this.#effectsOf = prepareEffectsOf(readers, schema);
    this.#effectKey = prepareEffectKey(readers, schema);
    this.#partition = preparePartition(readers, schema, path, this.#group?.knownFacts);
    this.#facts = prepareFacts(readers, schema, path);
    this.#branches = prepareBranches(readers, schema, path);
    this.#branchPartitions = prepareBranchPartitions(readers, schema, path);
    this.#claimKey = prepareClaimKey(readers, schema);
    this.#spaces = prepareSpaces(readers, schema, path);
    this.#factsByText = prepareFactsByText(readers, schema, path);
    this.#factsByVector = prepareFactsByVector(readers, schema, path);
    this.#textsToEmbed = prepareTextsToEmbed(readers, schema, path);
    this.#wereEffectsHeld = prepareWereEffectsHeld(readers, schema);
    this.#selfCheck = prepareSelfCheck(readers, schema);
  }

  async commit(batch: Batch): Promise<CommitResult> {
    const group = this.#writable();
    checkBatch(batch);
    if (isEmpty(batch)) return COMMITTED;
    return group.commit(batch);
  }

  async resolve(id: Hash): Promise<EntryRow | undefined> {
    checkHash(id, 'id');
    return this.#read(async () => {
      await this.#connections.writer?.settled();
      return this.#resolve(id);
    });
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
    const group = this.#writable();
    checkOracleRow(row, within);
    return group.put(row, within);
  }

  async logSize(): Promise<number> {
    return this.#read(this.#logSize);
  }

  async unlogged(limit: number): Promise<EntryRow[]> {
    checkPage({ limit });
    return this.#read(() => this.#unlogged(limit));
  }

  async integrate(step: LogStep): Promise<boolean> {
    const group = this.#writable();
    checkLogStep(step);
    return group.run(this.#integrate(step));
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
    const group = this.#writable();
    checkSnapshotRow(row);
    checkCount(erasures, 'erasures');
    return group.run(this.#putSnapshot(row, erasures));
  }

  async erasures(): Promise<number> {
    return this.#read(this.#erasures);
  }

  async dropSnapshots(): Promise<void> {
    return this.#writable().run(this.#dropSnapshots);
  }

  async holdEffects(signal?: AbortSignal): Promise<Tenure> {
    const group = this.#writable();
    checkSignal(signal);
    try {
      return await this.#connections.tenures.hold(() => group.run(this.#raise), signal);
    } catch (error) {
      throw signal?.aborted ? error : storeError(error, this.path, 'Working on the effects of');
    }
  }

  async shareEffects(options: { readonly leaseMs: number; readonly signal?: AbortSignal }): Promise<Membership> {
    this.#writable();
    checkSharing(options);
    const { leaseMs, signal } = options;
    try {
      return await this.#connections.tenures.share(prepareJoin(this.#connections, leaseMs), signal);
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
    return this.#read(() => this.#partition(name));
  }

  async facts(query: FactQuery): Promise<FactVersion[]> {
    const checked = checkFactQuery(query);
    return this.#read(() => this.#facts(checked));
  }

  claimKey(offered: Uint8Array): Promise<Uint8Array>;
  claimKey(): Promise<Uint8Array | undefined>;
  async claimKey(offered?: Uint8Array): Promise<Uint8Array | undefined> {
    if (offered !== undefined) checkClaimKey(offered);
    const known = await this.#read(this.#claimKey.known);
    if (known !== undefined || offered === undefined) return known;
    return this.#claimKey.offer(this.#writable(), offered);
  }

  async spaces(): Promise<string[]> {
    return this.#read(this.#spaces);
  }

  async branches(): Promise<{ readonly space: string; readonly branch: string }[]> {
    return this.#read(this.#branches);
  }

  async branchPartitions(query: BranchPartitionQuery): Promise<BranchPartition[]> {
    const checked = checkBranchPartitionQuery(query);
    return this.#read(() => this.#branchPartitions(checked));
  }

  async factsByText(query: FactTextQuery): Promise<FactHit[]> {
    const checked = checkTextQuery(query);
    return this.#read(() => this.#factsByText(checked));
  }

  async factsByVector(query: FactVectorQuery): Promise<FactHit[]> {
    const checked = checkVectorQuery(query);
    return this.#read(() => this.#factsByVector(checked));
  }

  async textsToEmbed(embedder: string, space: string, limit: number): Promise<FactText[]> {
    for (const [name, text] of Object.entries({ embedder, space })) checkText(text, name);
    checkPage({ limit });
    return this.#read(() => this.#textsToEmbed(embedder, space, limit));
  }

  async putVectors(embedder: string, vectors: readonly FactVector[]): Promise<void> {
    const group = this.#writable();
    checkVectors(embedder, vectors);
    return putVectors(group, this.#connections.schema, embedder, vectors);
  }

  async rebuildFacts(pages: AsyncIterable<readonly FactWrite[]>): Promise<void> {
    this.#writable();
    return rebuild(
      pages,
      rebuildSteps(() => this.#writable(), this.#connections.schema, this.path),
    );
  }

  async scrub(): Promise<void> {
    this.#writable();
    return this.#scrubber?.scrub();
  }

  async selfCheck(): Promise<string[]> {
    return this.#read(this.#selfCheck);
  }

  async turn(trajectoryId: string): Promise<(() => void) | undefined> {
    this.#writable();
    checkText(trajectoryId, 'trajectory_id');
    return this.#connections.turns.take(trajectoryId);
  }

  checkAhead(ranges: readonly RowRange[]): Ahead {
    this.#checkOpen();
    return checkAhead(this.#connections.url, ranges);
  }

  /** Takes a connection of its own for each listener. When that is lost, `missed` is told once there is another. */
  async follow(listener: (news: News) => void): Promise<() => Promise<void>> {
    const following = await this.#asked('Following', () => Following.start({ ...this.#connections, listener }));
    this.#followings.add(following);
    return async () => {
      this.#followings.delete(following);
      await following.stop();
    };
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#connections.tenures.refuse(this.#closedError());
    await this.#scrubber?.idle();
    await this.#group?.idle();
    await this.#connections.tenures.end();
    await this.#connections.turns.end();
    for (const following of this.#followings) await following.stop();
    await this.#connections.writer?.end();
    await this.#connections.readers.end();
  }

  #read<T>(step: () => Promise<T>): Promise<T> {
    return this.#asked('Reading', step);
  }

  async #asked<T>(doing: string, step: () => Promise<T>): Promise<T> {
    this.#checkOpen();
    try {
      return await step();
    } catch (error) {
      throw storeError(error, this.path, doing);
    }
  }

  #checkOpen(): void {
    if (this.#closed !== undefined) throw this.#closedError();
  }

  #closedError(): StoreError {
    return new StoreError('store_closed', `The store ${this.path} is closed; open it again to use it.`, {
      evidence: { path: this.path },
    });
  }

  #writable(): GroupCommit {
    this.#checkOpen();
    if (this.#group === undefined) throw readonlyError(this.path, 'it was opened with mode readonly');
    return this.#group;
  }
}
