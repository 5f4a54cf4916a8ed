import type { Json } from 'assize/internal/base';

/** The question to a human: which branch the transaction continues with. */
export interface CounselQuestion {
  readonly question: string;
  /** The result of each branch, by index. */
  readonly branches: readonly BranchSummary[];
}

export interface CounselAnswer {
  /** The index of a branch that did not fail, or null for no branch. */
  readonly chosen: number | null;
  /**
   * The author of the answer, 1 to 256 characters. The asking program has verified the identity.
   */
  readonly by: string;
  readonly reason?: string;
}

export type BranchSummary =
  | { readonly failed: false; readonly summary: Json }
  | { readonly failed: true; readonly why: string };
