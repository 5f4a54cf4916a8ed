import type { Hash, Instant, Stored } from './entry.ts';
import type { LedgerStore } from './store.ts';

/** What facts are told apart and serialised by: those of different partitions never meet (decisions §6.2). */
export interface PartitionName {
  readonly space: string;
  readonly subject: string;
  readonly predicate: string;
}

/** A text that stands in a salted blob. */
export interface ContentRef {
  readonly hash: Hash;
  /** Of the blob's text. */
  readonly bytes: number;
}

/** What a row of an entry and one of a store have in common; `memory/fact.ts` says what the columns mean. */
interface FactColumns {
  readonly fact_id: string;
  readonly valid_from: Instant;
  readonly valid_to: Instant;
  readonly provenance_id: string;
  readonly confidence: number;
  readonly resolution_strategy_id: string;
  readonly row_kind: 'current' | 'audit';
  readonly resolution_id: string | null;
  readonly lineage: string;
  readonly asserted_seq: number;
  readonly asserted_from: Instant;
}

/** A row that a commit writes, as its entry has it. It begins at the system time of its change, and has no end yet. */
export interface BeliefRow extends FactColumns {
  /** What is said, or the witness: a salted reference, so that it can be erased. */
  readonly object: Stored;
}

/** Names one version of a fact. */
export interface FactKey {
  readonly fact_id: string;
  readonly system_time_start: Instant;
}

/** What a commit changes in one partition: the exact rows, so that folding asks nobody. */
export interface BeliefChange {
  /** The names of the partition: a salted reference, the same one in all of its changes. */
  readonly partition: Stored;
  /** How many changes the partition has had with this one: the append checks it. It is the `seq` of the rows. */
  readonly version: number;
  readonly cardinality: 'single-valued' | 'multi-valued';
  /** Greater than that of every change of the partition before. */
  readonly system_time: Instant;
  /** Their system time ends with this change. */
  readonly close: readonly FactKey[];
  readonly insert: readonly BeliefRow[];
}

/** A version of a fact as a store has it: the row, what it is of, and where its text stands in the ledger. */
export interface FactVersion extends FactColumns, PartitionName {
  /** Where it was erased: the canonical text of `{"$erased": hash}`. */
  readonly object: string;
  readonly content: ContentRef;
  readonly system_time_start: Instant;
  readonly system_time_end: Instant;
  readonly entry_id: Hash;
  readonly seq: number;
  readonly cardinality: 'single-valued' | 'multi-valued';
}

/**
 * A change of one partition, for a store. It is written where the partition has exactly the version before, and else not
 * (`outdated`). What does not fit then is misuse, and an error (`store_invalid_input`) with nothing written: a system time that is not
 * greater than the latest, a row to close that is not open, a row that is there already, an open row of a single-valued partition
 * that overlaps another.
 */
export interface FactWrite {
  readonly partition: PartitionName;
  readonly names: ContentRef;
  /** From 1. */
  readonly version: number;
  readonly system_time: Instant;
  readonly close: readonly FactKey[];
  /** Their partition, `system_time_start`, `system_time_end`, `seq` are those of the write. */
  readonly insert: readonly FactVersion[];
}

/** Another commit has changed the partition since it was read: nothing of the batch was written. */
export interface Outdated {
  readonly status: 'outdated';
  readonly partition: PartitionName;
}

/** A partition as a change starts from it. */
export interface PartitionState {
  readonly names: ContentRef;
  readonly version: number;
  /** The system time of its latest change. */
  readonly latest: Instant;
  /** What is believed of it, in order of valid time. */
  readonly open: readonly FactVersion[];
}

/** Which versions of facts are wanted; what is left out restricts nothing, but for `kind`. */
export interface FactQuery {
  readonly space: string;
  readonly subject?: string;
  readonly predicate?: string;
  /** Default `current`. */
  readonly kind?: 'current' | 'audit' | 'all';
  /** Those whose valid time holds it. */
  readonly valid?: Instant;
  /** Those whose system time holds it; `now`: those that have no end yet. */
  readonly system?: Instant | 'now';
  /** Those of one claim. */
  readonly lineage?: string;
  /** Goes on after this one, which an answer to the same query had. */
  readonly after?: FactVersion;
  /** At most so many, from 1; default 1,000. */
  readonly limit?: number;
}

/**
 * Where beliefs live: a projection of commits, from which they can be made anew. Reads see what is committed. Rows come
 * by subject and predicate in code-point order, those of a partition by `system_time_start`, `valid_from`, `fact_id`.
 */
export interface FactStore {
  /** Undefined where it never had a fact. */
  partition(name: PartitionName): Promise<PartitionState | undefined>;
  facts(query: FactQuery): Promise<FactVersion[]>;
  /**
   * The key that claims are hashed with in this store: the first one that was ever offered. It is no part of the ledger; in a store that is
   * made anew what was heard before is not recognised.
   */
  claimKey(offered: Uint8Array): Promise<Uint8Array>;
  /** Spaces that have facts, in code-point order. */
  spaces(): Promise<string[]>;
  /**
   * Forgets all facts, and takes them in anew from the ledger: pages of changes, in the order of their versions. Until the last page
   * is in, or where it fails, reads and writes of facts throw `store_facts_incomplete`, also after the store is opened again.
   */
  rebuildFacts(pages: AsyncIterable<readonly FactWrite[]>): Promise<void>;
}

/** Whether a store keeps facts, as those of this package do. */
export function isFactStore<Store extends LedgerStore>(store: Store): store is Store & FactStore {
  return typeof (store as Partial<FactStore>).partition === 'function';
}
