/** A domain's memory declaration. */
export interface MemorySpec {
  /** The predicates of the memory. Statements under other predicates are refused. */
  readonly predicates: { readonly [predicate: string]: PredicateSpec };
}

/** The options of a predicate, for all its facts. See `memory/predicate.ts`. */
export interface PredicateSpec {
  readonly cardinality: 'single-valued' | 'multi-valued';
  readonly strategy: 'lww' | 'lww-valid' | 'evi' | 'await' | 'rule';
  /** Default `keep`. */
  readonly remainder?: 'keep' | 'drop';
  /**
   * The counselor kind that decides contradictions: a key of `counselors`. Default: any counselor.
   */
  readonly channel?: string;
  /**
   * The predicate's meaning, for people and models that choose a predicate. At most 2,000
   * characters.
   */
  readonly description?: string;
}

export interface StatementTarget {
  readonly space: string;
  readonly subject: string;
  readonly predicate: string;
}

/** `from` and `to` are instants. Default: from the proposal's time, without an end. */
export interface ValidTime {
  readonly from?: string;
  readonly to?: string;
}

/**
 * The notes of a caller about a statement, such as `{ channel: 'mail', thread: 't1' }`: 1 to 16
 * members, with names of 1 to 64 characters and texts of at most 256.
 */
export type StatementMetadata = { readonly [name: string]: string | number | boolean };

/**
 * The author of a statement. A statement of the assistant never replaces one of another author. A
 * named user's fact is replaced by that user alone, or by an author without a name here.
 */
export interface StatementAuthor {
  readonly role: 'user' | 'assistant';
  readonly name?: string;
  /** The users of the space speak as one: each may replace what another one said. */
  readonly shared?: true;
}

export interface StatementContent extends StatementTarget {
  readonly object: string;
  /** From 0 to 1. Default 1. */
  readonly confidence?: number;
  /**
   * The caller's own name of the source. A repeated assertion of one source is the same fact claim.
   * Default: this proposal.
   */
  readonly source?: string;
  /** No part of the claim: a repeated assertion with other metadata is the same claim. */
  readonly metadata?: StatementMetadata;
  /** Default: unknown. No part of the claim either. */
  readonly author?: StatementAuthor;
}

/**
 * A statement of a proposal. `assert`: a fact is valid in the period. With `ends`, the fact no
 * longer holds after it, also where earlier statements say so. `change`: the fact is valid from
 * then on. `correct`: the period was recorded wrongly, and the given object is valid. `was` names
 * the wrong object. `retract`: no such fact is valid in the period. `withdraw`: the statements of a
 * source, or the given ones, no longer count.
 */
export type MemoryStatement =
  | (StatementContent & {
      readonly verb: 'assert';
      readonly valid?: ValidTime;
      readonly ends?: true;
      readonly strategy?: PredicateSpec['strategy'];
    })
  | (StatementContent & { readonly verb: 'change'; readonly from?: string })
  | (StatementContent & {
      readonly verb: 'correct';
      readonly valid: { readonly from: string; readonly to: string };
      readonly was?: string;
    })
  | (StatementTarget & {
      readonly verb: 'retract';
      readonly valid: { readonly from: string; readonly to: string };
      readonly object?: string;
    })
  | (StatementTarget & {
      readonly verb: 'withdraw';
      readonly source?: string;
      readonly statements?: readonly StatementPlace[];
    });

/** A statement by the entry that recorded it, and its number there. */
export interface StatementPlace {
  readonly entry: string;
  readonly n: number;
}
