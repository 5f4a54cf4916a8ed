import type { BlobRef, Hash, Instant } from './entry.ts';
import type { LedgerStore } from './store.ts';

/**
 * Where a valid time begins that has always been. As its counterpart it lies outside of the years that an instant may have, so that
 * text order is time order also for it. No database takes it for a date: periods are kept as text.
 */
export const OPEN_START = '0000-01-01T00:00:00.000000Z';
/** Where a valid or system time ends that has no end yet (DESIGN §10). */
export const OPEN_END = '9999-12-31T00:00:00.000000Z';

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

/** How many values a predicate has at a time. */
export type FactCardinality = 'single-valued' | 'multi-valued';

/**
 * What a row of an entry and one of a store have in common; `memory/fact.ts` says what the columns mean. Texts are not empty, and have
 * neither U+0000 nor half a surrogate pair.
 */
export interface FactColumns {
  /** Of an audit row it begins with `audit::`. No two rows of one change have the same. */
  readonly fact_id: string;
  /** An instant or `OPEN_START`; before `valid_to`. */
  readonly valid_from: Instant;
  /** An instant or `OPEN_END`. */
  readonly valid_to: Instant;
  /** Inside of an entry it names that entry's own writes as `w:@n`; in a store as `w:<entry id>#n`. */
  readonly provenance_id: string;
  /** From 0 to 1. */
  readonly confidence: number;
  /** `lww`, `lww-valid`, `evi`, `await` or `rule`. */
  readonly resolution_strategy_id: string;
  readonly row_kind: 'current' | 'audit';
  /** Null in current rows, and only there. */
  readonly resolution_id: string | null;
  readonly lineage: string;
  /** From 1 to the version of the change. */
  readonly asserted_seq: number;
  /** An instant or `OPEN_START`. */
  readonly asserted_from: Instant;
}

/** A row that a commit writes, as its entry has it. It begins at the system time of its change, and has no end yet. */
export interface BeliefRow extends FactColumns {
  /** A text, by salted reference, so that it can be erased: what is said, or the witness. */
  readonly object: SaltedRef;
}

/** A reference to a value that can be erased. */
export type SaltedRef = BlobRef & { readonly salted: true };

/** Names one version of a fact. */
export interface FactKey {
  readonly fact_id: string;
  readonly system_time_start: Instant;
}

/**
 * What a commit changes in one partition: the exact rows, so that folding asks nobody. An entry changes a partition once.
 *
 * `shape.ts` checks the form, `belief-rules.ts` what holds inside of one entry. What holds between entries, which may be of many
 * trajectories, is checked by the append, and by whoever fills a store anew: that versions go on by one, that system times grow, that
 * what is closed was open.
 */
export interface BeliefChange {
  /** Its `PartitionName`, by a salted reference, the same one in all of its changes. */
  readonly partition: SaltedRef;
  /** How many changes the partition has had with this one, in all trajectories: the append checks it. It is the `seq` of the rows. */
  readonly version: number;
  /** Of the predicate, now. */
  readonly cardinality: FactCardinality;
  /** Not before the entry's `at`, and greater than that of every change of the partition before. */
  readonly system_time: Instant;
  /** Rows that began before. Their system time ends with this change. */
  readonly close: readonly FactKey[];
  readonly insert: readonly BeliefRow[];
  /** Claims that have no row, because another one says the same. By them it is known that they were made. */
  readonly merged?: readonly string[];
}

/** A version of a fact as a store has it: the row, what it is of, and where its text stands in the ledger. */
export interface FactVersion extends FactColumns, PartitionName {
  /**
   * Exactly the text that `content` stands for; in a witness `@` is the `entry_id` of this row. Where it was erased: the canonical text of
   * `{"$erased": hash}`, as also in each name of a partition whose names were.
   */
  readonly object: string;
  readonly content: ContentRef;
  readonly system_time_start: Instant;
  readonly system_time_end: Instant;
  readonly entry_id: Hash;
  readonly seq: number;
  readonly cardinality: FactCardinality;
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
   * made anew what was heard before is not recognised. A key has 16 to 64 bytes; one that is not is misuse (`store_invalid_input`).
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
