import type { Json } from '#base';

/** What a person is asked: which of the branches it shall be. */
export interface CounselQuestion {
  readonly question: string;
  /** What came of each, by its place. */
  readonly branches: readonly BranchSummary[];
}

export interface CounselAnswer {
  /** The place of a branch that did not fail; null for none. */
  readonly chosen: number | null;
  /** Who decided, 1 to 256 characters. Whoever asks them has made sure that it is they. */
  readonly by: string;
  readonly reason?: string;
}

export type BranchSummary =
  | { readonly failed: false; readonly summary: Json }
  | { readonly failed: true; readonly why: string };
