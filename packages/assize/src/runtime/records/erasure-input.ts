import type { Writ } from '#authority';
import type { ErasedLogged, ErasedValue, Hash } from '#ledger';
import type { WritChain } from '../authority/writs.ts';
import type { Ruling } from './ruling.ts';

/**
 * The data to erase, and the authority for it: paths, entries, facts, tool transactions, or several
 * of them. Unknown members and undefined members are refused, because a misspelled member would
 * erase less than intended.
 */
export interface ErasureInput {
  /**
   * Paths of the state, as JSON pointers, with everything below them. The writ must cover
   * `erase:/place` of each.
   */
  readonly at?: readonly string[];
  /**
   * Entries with sensitive data to erase; refused proposals have no path in the state. The writ
   * must cover `erase:entry:ID`.
   */
  readonly entries?: readonly Hash[];
  /**
   * Facts: all statements about a subject, about one predicate of it, or of one claim. The writ
   * must cover `erase:memory:SPACE` of each space. Unknown members and undefined members are
   * refused, because a narrower selection would become a wider one.
   */
  readonly beliefs?: readonly BeliefSelector[];
  /**
   * Tool transactions of this trajectory, by epoch: data that only the effect log has, such as the
   * data of an aborted transaction. The writ must cover `erase:effects:EPOCH`. Inputs that a
   * proposal names are erased with that proposal.
   */
  readonly transactions?: readonly number[];
  /** The reason; it stays in the ledger permanently. */
  readonly reason: string;
  /** A writ for the action `assize.erase`, as in a proposal. */
  readonly writ: Hash | Writ | WritChain;
  readonly principal?: string;
}

/**
 * The ruling. If facts were selected and the erasure is committed, also the places that still have
 * data of them.
 *
 * - `remaining`: trajectories that still have such data, to be erased there. This trajectory is
 *   included if `unmarked` names an entry.
 * - `unmarked`: entries of this trajectory, in order, with state changes that quote the facts in
 *   field names or at paths that are not sensitive. No erasure reaches those.
 * - `open`: epochs of tool transactions that have not ended. Their inputs and answers stay until
 *   they end, unless an entry names them, because they may still be needed. Erase again then.
 *
 * A member is absent if it would be empty.
 */
export type ErasureRuling = Ruling & {
  readonly remaining?: readonly string[];
  readonly unmarked?: readonly Hash[];
  readonly open?: readonly number[];
};

/** The data that an erasure would erase now. The other members are those of its ruling. */
export interface ErasurePreview {
  /** Values of entries, each with its first entry and its path in the current state. */
  readonly values: readonly ErasedValue[];
  /** Keys of answers of the oracle log. */
  readonly answers: readonly Hash[];
  /** Texts of the effect log that no entry names. */
  readonly logged: readonly ErasedLogged[];
  readonly remaining: readonly string[];
  readonly unmarked: readonly Hash[];
  readonly open: readonly number[];
}

/**
 * The facts to erase: all statements about a subject, or about one predicate of it, or one claim.
 */
export interface BeliefSelector {
  readonly space: string;
  readonly subject: string;
  readonly predicate?: string;
  readonly claim?: string;
}
