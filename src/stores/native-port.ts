import type {
  Batch,
  BranchPartition,
  BranchPartitionQuery,
  CommitResult,
  EffectKeyRow,
  EffectPage,
  EntryRow,
  FactHit,
  FactQuery,
  FactText,
  FactTextQuery,
  FactVector,
  FactVectorQuery,
  FactVersion,
  FactWrite,
  Hash,
  LoggedTransaction,
  LogStep,
  OpenEffectPage,
  PartitionName,
  PartitionState,
  SnapshotRow,
  Tenure,
  TrajectoryInfo,
} from '#ledger';
import type { OracleRow } from '#oracle';

/** What one kind of store does by itself; `CheckedStore` makes the ports of it. */
export interface Access {
  /** @throws {StoreError} where the store can't be read, and for what goes wrong in `step` */
  read<T>(step: (reads: Reads) => Answer<T>): Answer<T>;
  /** @throws {StoreError} where nothing can be written */
  writes(): Writes;
}

/** Shared, because a group answers hundreds of callers with it. */
export const COMMITTED: CommitResult = Object.freeze({ status: 'committed' });

/** At once, where it takes no waiting. */
type Answer<T> = T | Promise<T>;

/** A query in which nothing is left out that has a default. */
type Whole<Query> = Query & { readonly limit: number };

type AnswerPage = { readonly after?: string; readonly limit: number };

/** As the ports have them, of arguments that were checked. */
export interface Reads {
  resolve(id: Hash): Answer<EntryRow | undefined>;
  entries(trajectoryId: string, from: number, limit: number): Answer<EntryRow[]>;
  head(trajectoryId: string): Answer<EntryRow | undefined>;
  trajectories(): Answer<TrajectoryInfo[]>;
  blob(hash: Hash): Answer<string | undefined>;
  erasedBy(hash: Hash): Answer<Hash | undefined>;
  find(prefix: string): Answer<EntryRow[]>;
  oracleGet(key: string): Answer<OracleRow | undefined>;
  oracleWithin(within: string, page: AnswerPage): Answer<OracleRow[]>;
  oracleErased(page: AnswerPage): Answer<OracleRow[]>;
  logSize(): Answer<number>;
  unlogged(limit: number): Answer<EntryRow[]>;
  logNodes(level: number, from: number, count: number): Answer<(Uint8Array | undefined)[]>;
  logIndex(id: Hash): Answer<number | undefined>;
  logged(from: number, limit: number): Answer<EntryRow[]>;
  snapshot(trajectoryId: string): Answer<SnapshotRow | undefined>;
  erasures(): Answer<number>;
  openEffects(page: OpenEffectPage): Answer<LoggedTransaction[]>;
  listEffects(page: EffectPage): Answer<LoggedTransaction[]>;
  effectsOf(epoch: number): Answer<LoggedTransaction | undefined>;
  effectKey(key: Hash): Answer<EffectKeyRow | undefined>;
  wereEffectsHeld(): Answer<boolean>;
  partition(name: PartitionName): Answer<PartitionState | undefined>;
  facts(query: Whole<FactQuery>): Answer<FactVersion[]>;
  claimKey(): Answer<Uint8Array | undefined>;
  spaces(): Answer<string[]>;
  branches(): Answer<{ readonly space: string; readonly branch: string }[]>;
  branchPartitions(query: Whole<BranchPartitionQuery>): Answer<BranchPartition[]>;
  factsByText(query: Whole<FactTextQuery>): Answer<FactHit[]>;
  factsByVector(query: Whole<FactVectorQuery>): Answer<FactHit[]>;
  textsToEmbed(embedder: string, space: string, limit: number): Answer<FactText[]>;
}

/** As the ports have them, of arguments that were checked. */
export interface Writes {
  /** Of a batch that is not empty. */
  commit(batch: Batch): Promise<CommitResult>;
  oraclePut(row: OracleRow, within: string | undefined): Promise<OracleRow>;
  integrate(step: LogStep): Promise<boolean>;
  putSnapshot(row: SnapshotRow, erasures: number): Promise<void>;
  dropSnapshots(): Promise<void>;
  holdEffects(signal: AbortSignal | undefined): Promise<Tenure>;
  claimKey(offered: Uint8Array): Promise<Uint8Array>;
  putVectors(embedder: string, vectors: readonly FactVector[]): Promise<void>;
  /** What comes in the pages is checked by `rebuild`. */
  rebuildFacts(pages: AsyncIterable<readonly FactWrite[]>): Promise<void>;
  keepFacts(): Promise<boolean>;
}
