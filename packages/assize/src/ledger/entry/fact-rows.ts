import type { Instant } from '#canon';
import type { BlobRef, Hash } from './hash.ts';

/**
 * The start of a valid time without a lower bound. The value lies outside the years of an instant,
 * so text order equals time order. Stores keep periods as text and never parse the value as a date.
 */
export const OPEN_START = '0000-01-01T00:00:00.000000Z';
/** The end of an open valid time or system time (docs/decisions/017-memory.md). */
export const OPEN_END = '9999-12-31T00:00:00.000000Z';

/**
 * The key that separates and serialises facts. Facts of different partitions never conflict
 * (docs/decisions/017-memory.md).
 */
export interface PartitionName {
  readonly space: string;
  readonly subject: string;
  readonly predicate: string;
  /** The trajectory id of the branch with the facts in its memory. Absent: the shared memory. */
  readonly branch?: string;
}

/** A text stored in a salted blob. */
export interface ContentRef {
  readonly hash: Hash;
  /** The size of the blob's text in bytes. */
  readonly bytes: number;
}

/** How many values a predicate can have at one time. */
export type FactCardinality = 'single-valued' | 'multi-valued';

/**
 * Columns shared by rows of an entry and rows of a store; `memory/fact.ts` explains them. Strings
 * are not empty, and contain neither U+0000 nor an unpaired surrogate.
 */
export interface FactColumns {
  /** The id of an audit row starts with `audit::`. Ids are unique within a change. */
  readonly fact_id: string;
  /** An instant or `OPEN_START`, before `valid_to`. */
  readonly valid_from: Instant;
  /** An instant or `OPEN_END`. */
  readonly valid_to: Instant;
  /**
   * Inside an entry, `w:@n` names the entry's own writes. In a store the same write is `w:<entry
   * id>#n`.
   */
  readonly provenance_id: string;
  /** From 0 to 1. */
  readonly confidence: number;
  /** `lww`, `lww-valid`, `evi`, `await` or `rule`. */
  readonly resolution_strategy_id: string;
  readonly row_kind: 'current' | 'audit';
  /** Null in current rows only. */
  readonly resolution_id: string | null;
  readonly lineage: string;
  /** From 1 to the version of the change. */
  readonly asserted_seq: number;
  /** An instant or `OPEN_START`. */
  readonly asserted_from: Instant;
}

/**
 * A row that a commit writes, in the form of its entry. The row starts at the system time of its
 * change and is open.
 */
export interface BeliefRow extends FactColumns {
  /** The asserted text or the witness, by salted reference, so the text can be erased. */
  readonly object: SaltedRef;
}

/** A reference to an erasable value. */
export type SaltedRef = BlobRef & { readonly salted: true };

/** The key of one version of a fact. */
export interface FactKey {
  readonly fact_id: string;
  readonly system_time_start: Instant;
}

/**
 * The change of one partition in a commit. The change contains the exact rows, so a fold needs no
 * other input. An entry changes a partition at most once.
 *
 * `shape.ts` checks the form, and `belief-rules.ts` checks the rules within one entry. The append
 * and every rebuild of a store check the rules between entries of all trajectories: versions have
 * no gaps, system times grow, and closed rows were open.
 */
export interface BeliefChange {
  /** The `PartitionName` by salted reference. All changes of a partition use the same reference. */
  readonly partition: SaltedRef;
  /**
   * The number of changes of the partition over all trajectories, including this one. The append
   * checks the number. The rows carry it as `seq`.
   */
  readonly version: number;
  /** The predicate's current cardinality. */
  readonly cardinality: FactCardinality;
  /**
   * Not before the entry's `at`, and later than the system time of every earlier change of the
   * partition.
   */
  readonly system_time: Instant;
  /** Earlier rows with a system time that ends with this change. */
  readonly close: readonly FactKey[];
  readonly insert: readonly BeliefRow[];
  /**
   * Claims without a row because another claim asserts the same fact. The list records that they
   * were made.
   */
  readonly merged?: readonly string[];
  /**
   * For the first change of a branch's partition: the inherited facts. Absent: the partition starts
   * empty, as any other partition does.
   */
  readonly inherit?: Inheritance;
}

/**
 * The initial facts of a branch's partition: the source's facts at the branch point, as separate
 * rows.
 */
export interface Inheritance {
  /**
   * The system time of the latest inherited change, or of the branch point if the source changed
   * later. The branch does not see later changes of the source. Before the system time of the
   * change.
   */
  readonly until: Instant;
  /**
   * The rows that were open at that time. The change's version is one more than their greatest
   * `seq`.
   */
  readonly rows: readonly InheritedRow[];
}

/**
 * A row of the source, with the same text in the same blob. Its provenance already uses store
 * names.
 */
export interface InheritedRow extends BeliefRow {
  readonly row_kind: 'current';
  /** Not later than `until`. */
  readonly system_time_start: Instant;
  /** The entry that wrote the row. */
  readonly entry_id: Hash;
  /** From 1, and not less than `asserted_seq`. */
  readonly seq: number;
  readonly cardinality: FactCardinality;
}

/**
 * A version of a fact as a store has it: the row, its partition, and the reference to its text in
 * the ledger.
 */
export interface FactVersion extends FactColumns, PartitionName {
  /**
   * The exact text that `content` refers to. In a witness, `@` stands for the `entry_id` of the
   * row. After an erasure: the canonical text of `{"$erased": hash}`. Erased names of a partition
   * have the same form.
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
 * A change of one partition, for a store. The store writes the change only if the partition has the
 * preceding version and all partitions in `reads` are unchanged. Otherwise the change is
 * `outdated`.
 *
 * Other conflicts are misuse: the store fails with `store_invalid_input` and writes nothing.
 * Examples are a system time that does not grow, a row to close that is not open, a row that
 * already exists, and overlapping open rows of a single-valued partition.
 */
export interface FactWrite {
  readonly partition: PartitionName;
  readonly names: ContentRef;
  /** From 1. */
  readonly version: number;
  readonly system_time: Instant;
  readonly close: readonly FactKey[];
  /**
   * The partition, `system_time_start`, `system_time_end` and `seq` of these rows equal those of
   * the write.
   */
  readonly insert: readonly FactVersion[];
  /**
   * For the first change of a branch's partition. The store writes these rows unchanged and open,
   * and `close` may name them. `version` is one more than their greatest `seq`. If the partition
   * already exists, the change is outdated.
   */
  readonly inherit?: { readonly until: Instant; readonly rows: readonly FactVersion[] };
  /** Existing texts that new rows repeat. If one of them was erased, the change is outdated. */
  readonly repeats?: readonly Hash[];
  /**
   * Unchanged partitions that the plan depends on. If one of them has another version before the
   * batch, the change is outdated. A rebuild does not check this field and leaves it out.
   */
  readonly reads?: readonly PartitionRead[];
}

/** The version of a partition at the time of the read. */
export interface PartitionRead {
  readonly partition: PartitionName;
  /** 0 if the partition did not exist. */
  readonly version: number;
}

/** Another commit changed a partition after the read. The store wrote nothing of the batch. */
export interface Outdated {
  readonly status: 'outdated';
  /**
   * The partition to change. The changed partition may also be one of its `reads`. Absent: the
   * batch repeats a text that was erased.
   */
  readonly partition?: PartitionName;
}

/** The state of a partition before a change. */
export interface PartitionState {
  readonly names: ContentRef;
  readonly version: number;
  /** The system time of its latest change. */
  readonly latest: Instant;
  /** The current facts of the partition, in order of valid time. */
  readonly open: readonly FactVersion[];
  /**
   * For a branch's partition: the time up to which it has the source's facts (`Inheritance`).
   * `OPEN_START` if it inherited nothing.
   */
  readonly since?: Instant;
}

/** A partition in a branch's own memory. */
export interface BranchPartition extends PartitionName {
  readonly branch: string;
  /** Same as `since` of `PartitionState`. */
  readonly since: Instant;
}

/** Selects partitions of one branch. */
export interface BranchPartitionQuery {
  readonly space: string;
  readonly branch: string;
  readonly subject?: string;
  readonly predicate?: string;
  /** Continues after this partition. */
  readonly after?: Pick<PartitionName, 'subject' | 'predicate'>;
  /** Maximum number of partitions, from 1. Default: 1,000. */
  readonly limit?: number;
}

/** A place in the order of facts. */
export type FactPlace = Pick<
  FactVersion,
  'subject' | 'predicate' | 'system_time_start' | 'valid_from' | 'fact_id'
>;

/** Selects versions of facts. An absent field restricts nothing, except `kind`. */
export interface FactQuery {
  readonly space: string;
  /** Only facts in this branch's own memory. Absent: the shared memory. */
  readonly branch?: string;
  readonly subject?: string;
  readonly predicate?: string;
  /** Default `current`. */
  readonly kind?: 'current' | 'audit' | 'all';
  /** Only versions with the instant in their valid time. */
  readonly valid?: Instant;
  /** Only versions with the instant in their system time. `now`: only open versions. */
  readonly system?: Instant | 'now';
  /** Only versions of one claim. */
  readonly lineage?: string;
  /** Continues after this place in the order of the result, such as the last version of a page. */
  readonly after?: FactPlace;
  /** Maximum number of versions, from 1. Default: 1,000. */
  readonly limit?: number;
}

/**
 * Selects versions of facts to rank. Time, names and kind filter first, and the best of the rest
 * are returned.
 */
export interface RankedQuery extends Omit<FactQuery, 'after'> {
  /** Maximum number of results, from 1. Default: 1,000. */
  readonly limit?: number;
}

/**
 * Full-text search: BM25 over all texts of the space, including texts of branches, as in `Bm25` of
 * `assize/memory`.
 */
export interface FactTextQuery extends RankedQuery {
  /** The search words as data. No character has a meaning in a query language. */
  readonly text: string;
}

/** Vector search: the cosine between this vector and the stored vectors of the embedder. */
export interface FactVectorQuery extends RankedQuery {
  readonly embedder: string;
  /** Has the embedder's dimensions. All numbers are finite, and not all are zero. */
  readonly vector: Float32Array;
}

/** A version of a fact and its score, to six decimals. A higher score is better. */
export interface FactHit {
  readonly fact: FactVersion;
  readonly score: number;
}

/** The searchable text of a claim (`documentOf` of `assize/memory`), shared by all its versions. */
export interface FactText {
  /** The text's id in this store. Ids are never reused. */
  readonly id: string;
  readonly text: string;
}

/** The vector of a text, for a store. */
export interface FactVector {
  /** The id of the text. */
  readonly id: string;
  readonly vector: Float32Array;
}
