import type { Instant } from '#canon';
import type { BlobRef, Hash } from './hash.ts';

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
  /** The branch whose memory it is in, by the id of its trajectory. Absent: the memory that all others share. */
  readonly branch?: string;
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
  /** Of the first change of a branch's partition: what it begins with. Absent: with nothing, as any other partition does. */
  readonly inherit?: Inheritance;
}

/** What a branch's partition begins with: what its source believed where the branch begins, in rows of its own. */
export interface Inheritance {
  /**
   * The latest change of the source's partition that it has, or where the branch begins if more was changed since: what the source
   * changed later is none of the branch's. Before the system time of the change.
   */
  readonly until: Instant;
  /** What was open then. The change's version is one more than the greatest `seq` of these. */
  readonly rows: readonly InheritedRow[];
}

/** A row as it stands in the source, with the same text in the same blob. What it says of writes is placed already. */
export interface InheritedRow extends BeliefRow {
  readonly row_kind: 'current';
  /** Not after `until`. */
  readonly system_time_start: Instant;
  /** The entry that wrote it. */
  readonly entry_id: Hash;
  /** From 1; not less than `asserted_seq`. */
  readonly seq: number;
  readonly cardinality: FactCardinality;
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
 * A change of one partition, for a store. It is written where the partition has exactly the version before, and each that it was planned
 * on the one that it had then, and else not (`outdated`). What does not fit then is misuse, and an error (`store_invalid_input`) with nothing written: a system time that is not
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
  /**
   * Of the first change of a branch's partition. Rows are written as they are, with no end, and `close` may name them; `version` is one
   * more than their greatest `seq`. Where the partition is there already, the change is outdated.
   */
  readonly inherit?: { readonly until: Instant; readonly rows: readonly FactVersion[] };
  /** Texts that new ones repeat. Where one of them is erased by now, the change is outdated. */
  readonly repeats?: readonly Hash[];
  /**
   * Partitions that it was planned on and leaves as they are. Where one of them has another version before the batch, the change is outdated.
   * By those nothing is judged that is made anew: they are not given then.
   */
  readonly reads?: readonly PartitionRead[];
}

/** A partition as somebody read it. */
export interface PartitionRead {
  readonly partition: PartitionName;
  /** 0 where it was not there. */
  readonly version: number;
}

/** Another commit has changed a partition since it was read: nothing of the batch was written. */
export interface Outdated {
  readonly status: 'outdated';
  /** That was to be changed; what was planned on may be another one (`reads`). Absent: it is a text that the batch repeats, and that was erased. */
  readonly partition?: PartitionName;
}

/** A partition as a change starts from it. */
export interface PartitionState {
  readonly names: ContentRef;
  readonly version: number;
  /** The system time of its latest change. */
  readonly latest: Instant;
  /** What is believed of it, in order of valid time. */
  readonly open: readonly FactVersion[];
  /** Of a branch's: until when it has what its source had (`Inheritance`); `OPEN_START` where that was nothing. */
  readonly since?: Instant;
}

/** A partition that a branch has of its own. */
export interface BranchPartition extends PartitionName {
  readonly branch: string;
  /** As in `PartitionState`. */
  readonly since: Instant;
}

/** Which partitions of one branch are wanted. */
export interface BranchPartitionQuery {
  readonly space: string;
  readonly branch: string;
  readonly subject?: string;
  readonly predicate?: string;
  /** Goes on after this one. */
  readonly after?: Pick<PartitionName, 'subject' | 'predicate'>;
  /** At most so many, from 1; default 1,000. */
  readonly limit?: number;
}

/** Which versions of facts are wanted; what is left out restricts nothing, but for `kind`. */
export interface FactQuery {
  readonly space: string;
  /** Only what this branch has of its own; absent: what is shared. */
  readonly branch?: string;
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

/** Which versions of facts are ranked. Time, names and kind restrict first: what comes back are the best of those that are left. */
export interface RankedQuery extends Omit<FactQuery, 'after'> {
  /** At most so many, from 1; default 1,000. */
  readonly limit?: number;
}

/** By words: BM25 over all texts of the space, those of branches among them, as `Bm25` of `assize/memory` has it. */
export interface FactTextQuery extends RankedQuery {
  /** Looked for word by word, as data: no character of it means anything to a query language. */
  readonly text: string;
}

/** By meaning: the cosine between this vector and those that were put for the embedder. */
export interface FactVectorQuery extends RankedQuery {
  readonly embedder: string;
  /** Of the embedder's dimensions, finite, and not all zero. */
  readonly vector: Float32Array;
}

/** A version of a fact and how well it answers, to six decimals; more is better. */
export interface FactHit {
  readonly fact: FactVersion;
  readonly score: number;
}

/** What facts are found by: a text of a claim (`documentOf` of `assize/memory`), whatever versions of it there are. */
export interface FactText {
  /** Names it in this store; no other text ever has the same. */
  readonly id: string;
  readonly text: string;
}

/** A vector of a text, for a store. */
export interface FactVector {
  /** Of the text. */
  readonly id: string;
  readonly vector: Float32Array;
}
