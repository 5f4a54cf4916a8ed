import type {
  Batch,
  BranchPartition,
  BranchPartitionQuery,
  CommitResult,
  EffectKeyRow,
  EffectPage,
  FactHit,
  FactQuery,
  FactText,
  FactTextQuery,
  FactVector,
  FactVectorQuery,
  FactVersion,
  FactWrite,
  Hash,
  Lease,
  LoggedTransaction,
  LogStep,
  OpenEffectPage,
  PartitionName,
  PartitionState,
  SideChange,
  SidePage,
  SideRow,
  SnapshotRow,
  TrajectoryInfo,
} from '#ledger';
import type { OracleRow } from '#oracle';
import type { Adoption } from './adoption.ts';
import type { ArchiveReads, ArchiveWrites } from './archive/port.ts';
import type { EntrySeals, StoredRow } from './entry-seals.ts';

/** The access to one kind of store. `CheckedStore` implements the ports with it. */
export interface NativePort {
  /** @throws {StoreError} if the store cannot be read, and for failures of `step` */
  read<T>(step: (reads: Reads) => Answer<T>): Answer<T>;
  /** @throws {StoreError} if the store cannot be written */
  writes(): Writes;
}

/** The shared result of successful commits, because one group answers hundreds of callers. */
export const COMMITTED: CommitResult = Object.freeze({ status: 'committed' });

/** Immediate if the store need not wait. */
type Answer<T> = T | Promise<T>;

/** A query with its defaults filled in. */
type WithDefaults<Query> = Query & { readonly limit: number };

type AnswerPage = { readonly after?: string; readonly limit: number };

/**
 * The reads of the ports, for checked arguments. A row or blob can have the marker of an archived
 * text (`archive/marker.ts`).
 */
export interface Reads {
  resolve(id: Hash): Answer<StoredRow | undefined>;
  entries(trajectoryId: string, from: number, limit: number): Answer<StoredRow[]>;
  head(trajectoryId: string): Answer<StoredRow | undefined>;
  trajectories(): Answer<TrajectoryInfo[]>;
  /** Undefined: call again. Such a store reads many entries in some steps. */
  trajectoriesToReview(): Answer<string[] | undefined>;
  blob(hash: Hash): Answer<string | undefined>;
  erasedBy(hash: Hash): Answer<Hash | undefined>;
  find(prefix: string): Answer<StoredRow[]>;
  oracleGet(key: string): Answer<OracleRow | undefined>;
  oracleWithin(within: string, page: AnswerPage): Answer<OracleRow[]>;
  oracleErased(page: AnswerPage): Answer<OracleRow[]>;
  logSize(): Answer<number>;
  unlogged(limit: number): Answer<StoredRow[]>;
  logNodes(level: number, from: number, count: number): Answer<(Uint8Array | undefined)[]>;
  logIndex(id: Hash): Answer<number | undefined>;
  logged(from: number, limit: number): Answer<StoredRow[]>;
  snapshot(trajectoryId: string): Answer<SnapshotRow | undefined>;
  erasures(): Answer<number>;
  openEffects(page: OpenEffectPage): Answer<LoggedTransaction[]>;
  listEffects(page: EffectPage): Answer<LoggedTransaction[]>;
  effectsOf(epoch: number): Answer<LoggedTransaction | undefined>;
  effectKey(key: Hash): Answer<EffectKeyRow | undefined>;
  hasEffectLog(): Answer<boolean>;
  partition(name: PartitionName): Answer<PartitionState | undefined>;
  facts(query: WithDefaults<FactQuery>): Answer<FactVersion[]>;
  adopted(root: Hash): Answer<boolean>;
  claimKey(): Answer<Uint8Array | undefined>;
  spaces(): Answer<string[]>;
  branches(): Answer<{ readonly space: string; readonly branch: string }[]>;
  branchPartitions(query: WithDefaults<BranchPartitionQuery>): Answer<BranchPartition[]>;
  factsByText(query: WithDefaults<FactTextQuery>): Answer<FactHit[]>;
  factsByVector(query: WithDefaults<FactVectorQuery>): Answer<FactHit[]>;
  textsToEmbed(embedder: string, space: string, limit: number): Answer<FactText[]>;
  sideGet(kind: string, key: string): Answer<SideRow | undefined>;
  sideList(kind: string, page: SidePage): Answer<SideRow[]>;
  /** Undefined for a store that has no seals. */
  isSealed?(): Answer<boolean>;
  hasSeals?(): Answer<boolean>;
  /** Undefined for a store that has no archive. */
  readonly archived?: ArchiveReads;
}

/** `after`: the last position of the page. Undefined: the store is sealed. */
export interface SealedPage {
  readonly sealed: number;
  readonly after: number | undefined;
}

/** The writes of the ports, for checked arguments. */
export interface Writes {
  /** The batch is not empty. */
  commit(batch: Batch): Promise<CommitResult>;
  oraclePut(row: OracleRow, within: string | undefined): Promise<OracleRow>;
  integrate(step: LogStep): Promise<boolean>;
  putSnapshot(row: SnapshotRow, erasures: number): Promise<void>;
  dropSnapshots(): Promise<void>;
  leaseEffects(signal: AbortSignal | undefined): Promise<Lease>;
  adopt(adoption: Adoption): Promise<void>;
  claimKey(offered: Uint8Array): Promise<Uint8Array>;
  putVectors(embedder: string, vectors: readonly FactVector[]): Promise<void>;
  /** `rebuild` checks the contents of the pages. */
  rebuildFacts(pages: AsyncIterable<readonly FactWrite[]>): Promise<void>;
  keepFacts(): Promise<boolean>;
  /** The changes are not empty, and name each row once. */
  sidePut(changes: readonly SideChange[]): Promise<boolean>;
  /** Seals a page of entries after a position. Undefined for a store that has no seals. */
  sealSome?(seals: EntrySeals, after: number): Promise<SealedPage>;
  readonly archived?: ArchiveWrites;
}
