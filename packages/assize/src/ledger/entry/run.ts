import type { Amounts, Instant } from './entry.ts';
import type { Hash } from './hash.ts';

/**
 * The result of a run of entries for its chain and its fold. The producer of the run checked the
 * entries one by one, and as a chain of their own. A reader can skip the entries: the reader checks
 * that the run joins the chain, and folds the patches.
 */
export interface VerifiedRun {
  readonly trajectoryId: string;
  /** The seq of the first entry. */
  readonly seq: number;
  readonly count: number;
  /**
   * The required predecessor: the first entry's parent and time, and the `parent_commit` of the
   * first commit, if any.
   */
  readonly parent: Hash;
  readonly from: Instant;
  readonly parentCommit: Hash | undefined;
  /** The chain's head after the run. */
  readonly head: Hash;
  readonly to: Instant;
  readonly lastCommit: Hash | undefined;
  /** The public key that signed every entry. Undefined if none is signed. */
  readonly key: string | undefined;
  /** The spending by writ, with the first entry that names the writ. */
  readonly spent: readonly {
    readonly writId: Hash;
    readonly seq: number;
    readonly cost: Amounts;
  }[];
  /**
   * JSON text with one list of patches per entry. Objects take longer to transfer between threads.
   */
  readonly patches: string;
}
