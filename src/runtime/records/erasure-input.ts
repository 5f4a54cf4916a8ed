import type { Writ } from '#authority';
import type { Hash } from '#ledger';
import type { WritChain } from '../authority/writs.ts';
import type { BelievedPlace } from './believed-place.ts';
import type { Ruling } from './ruling.ts';

/**
 * What to erase, and by whose authority: places, entries, what is believed, transactions of tools, or several of them. A member that there is not, or that is
 * undefined, is refused: one that is misspelled would be less erased than was meant.
 */
export interface ErasureInput {
  /** Places of the state, as JSON pointers, with all below them. The writ must cover `erase:/place` of each. */
  readonly at?: readonly string[];
  /** Entries, of which everything sensitive is erased: refused proposals have no place. The writ must cover `erase:entry:ID`. */
  readonly entries?: readonly Hash[];
  /**
   * What is believed: all that was said of a subject, or of one predicate of it, or what one claim says. The writ must cover
   * `erase:memory:SPACE` of each space. A member that there is not, or that is undefined, is refused: less named would be more erased.
   */
  readonly beliefs?: readonly BelievedPlace[];
  /**
   * Transactions of tools of this trajectory, by epoch: what only the effect log has of them, such as of one that came to nothing. The writ
   * must cover `erase:effects:EPOCH`. What they were given that a proposal names goes with that.
   */
  readonly transactions?: readonly number[];
  /** Why; it stays in the ledger for good. */
  readonly reason: string;
  /** With the action `assize.erase`, as in a proposal. */
  readonly writ: Hash | Writ | WritChain;
  readonly principal?: string;
}

/**
 * The ruling, and what still has something of what is believed, where that was asked for and the erasure is committed.
 *
 * `left`: trajectories that do. Of others it is erased where it was written; this one is among them where `unmarked` names an entry.
 * `unmarked`: entries of this one that have a text of it in what they changed of the state, at places that are not sensitive or in names of
 * members, in the order in which they were written. Nothing erases those.
 * `open`: epochs of transactions of tools that have not ended. What they were given and have answered, as far as no entry names it, may be
 * needed yet, and stays until they have; then it is to be erased again. Not there where there is none.
 */
export type ErasureRuling = Ruling & {
  readonly left?: readonly string[];
  readonly unmarked?: readonly Hash[];
  readonly open?: readonly number[];
};
