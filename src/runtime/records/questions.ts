import type { Escalated } from '#kernel';
import type { Hash, Instant, PartitionName } from '#ledger';
import type { Period, Question } from '#memory';

/** What a person has to choose between, as a pending approval has it. */
export interface AskedQuestion {
  /** What an answer names: a hash over the members. */
  readonly request: string;
  readonly space: string;
  readonly subject: string;
  readonly predicate: string;
  readonly members: readonly {
    /** What an answer elects. */
    readonly claim: string;
    readonly object: string;
    readonly confidence: number;
    /** When it is said to be so. */
    readonly valid: readonly Period[];
  }[];
}

/** Who is believed, by the claim of a member. */
export interface GivenAnswer {
  readonly request: string;
  readonly winner: string;
}

/** What waits for a person who chooses. Nothing is frozen meanwhile: what was believed stays so. */
export interface AskedFor extends Escalated {
  readonly questions: readonly AskedQuestion[];
  /** When it was said, where that was before it was put up. */
  readonly saidAt?: Instant | undefined;
  readonly asked: Asked;
}

/** Questions for a person. */
export interface Asked {
  readonly questions: readonly Question[];
  /** Texts of what is believed that they quote, by the blobs that these stand in: an entry has another copy of each. */
  readonly repeats: readonly Hash[];
  /** What they are about, to be read again where one of these was erased meanwhile. */
  readonly partitions: readonly PartitionName[];
}
