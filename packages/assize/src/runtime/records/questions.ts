import type { Escalated } from '#kernel';
import type { Hash, Instant, PartitionName } from '#ledger';
import type { Period, Question } from '#memory';

/** A question of a pending approval: the counselor chooses one of its members. */
export interface AskedQuestion {
  /** The id that an answer names: a hash over the members. */
  readonly request: string;
  readonly space: string;
  readonly subject: string;
  readonly predicate: string;
  readonly members: readonly {
    /** The id that an answer chooses. */
    readonly claim: string;
    readonly object: string;
    readonly confidence: number;
    /** Set if the claim states that the object no longer holds. */
    readonly ends?: true;
    /** The valid time of the claim. */
    readonly valid: readonly Period[];
  }[];
}

/** The winning claim of a question. */
export interface GivenAnswer {
  readonly request: string;
  readonly winner: string;
}

/**
 * A proposal that needs the answers of a counselor. Nothing is frozen in the meantime, and the
 * current facts stay.
 */
export interface PendingQuestions extends Escalated {
  readonly questions: readonly AskedQuestion[];
  /** The time of the statements, if it was before the submission. */
  readonly saidAt?: Instant | undefined;
  readonly asked: OpenQuestions;
}

/** Questions for a counselor. */
export interface OpenQuestions {
  readonly questions: readonly Question[];
  /**
   * The blobs of the existing facts that the questions quote. The entry has its own copy of each.
   */
  readonly repeats: readonly Hash[];
  /**
   * The partitions of the questions, to be reloaded if one of these blobs was erased in the
   * meantime.
   */
  readonly partitions: readonly PartitionName[];
}
