import type { Amounts, Instant } from './entry.ts';
import type { Hash } from './hash.ts';

/**
 * What a run of entries does to its chain and to the fold, made by whoever checked them one by one and as a chain of their
 * own. With it a reader goes on behind the run without reading it: it only has to see that the run joins, and to fold.
 */
export interface Run {
  readonly trajectoryId: string;
  /** Of the first entry. */
  readonly seq: number;
  readonly count: number;
  /** What the run stands on: the first entry's parent and time, and the `parent_commit` of its first commit, if it has one. */
  readonly parent: Hash;
  readonly from: Instant;
  readonly parentCommit: Hash | undefined;
  /** What it leads to. */
  readonly head: Hash;
  readonly to: Instant;
  readonly lastCommit: Hash | undefined;
  readonly signed: number;
  /** What was spent by writ, with the first entry that names it. */
  readonly spent: readonly { readonly writId: Hash; readonly seq: number; readonly cost: Amounts }[];
  /** JSON text: one list of patches an entry. As text, because objects take longer from thread to thread. */
  readonly patches: string;
}
