/** What a domain says of its memory. */
export interface MemorySpec {
  /** Nothing is believed under a predicate that is not declared here. */
  readonly predicates: { readonly [predicate: string]: PredicateSpec };
}

/** What is said once of a predicate, for all its facts; see `memory/predicate.ts`. */
export interface PredicateSpec {
  readonly cardinality: 'single-valued' | 'multi-valued';
  readonly strategy: 'lww' | 'lww-valid' | 'evi' | 'await' | 'rule';
  /** Default `keep`. */
  readonly remainder?: 'keep' | 'drop';
  /** Who is asked where a person has to choose; a key of `counselors`. Default: any of them. */
  readonly channel?: string;
  /** What it means, for whoever has to choose a predicate: people, and models that read messages. At most 2,000 characters. */
  readonly description?: string;
}

export interface Said {
  readonly space: string;
  readonly subject: string;
  readonly predicate: string;
}

/** `from` and `to` are instants; without them it is from the proposal's time on, and without an end. */
export interface ValidTime {
  readonly from?: string;
  readonly to?: string;
}

export interface Claimed extends Said {
  readonly object: string;
  /** From 0 to 1. Default 1. */
  readonly confidence?: number;
  /** The caller's own name of where it was heard. The same again is the same claim. Default: this proposal. */
  readonly source?: string;
}

/**
 * What a proposal wants to be believed, or not any more. `assert`: it is so. `change`: from then on it is so. `correct`: in that
 * period it was recorded wrongly, and is so; `was` says which object was wrong. `retract`: in that period it is not believed.
 */
export type Saying =
  | (Claimed & { readonly verb: 'assert'; readonly valid?: ValidTime; readonly strategy?: PredicateSpec['strategy'] })
  | (Claimed & { readonly verb: 'change'; readonly from?: string })
  | (Claimed & {
      readonly verb: 'correct';
      readonly valid: { readonly from: string; readonly to: string };
      readonly was?: string;
    })
  | (Said & {
      readonly verb: 'retract';
      readonly valid: { readonly from: string; readonly to: string };
      readonly object?: string;
    });
