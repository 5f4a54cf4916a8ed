import { MemoryError } from './errors.ts';

/**
 * The strategies for contradictions, as `resolution_strategy_id` stores them (TOKI Table 13, and
 * one more).
 * - `lww`: the last writer wins, by commit order and never by a caller's clock.
 * - `lww-valid`: the latest start of valid time wins, so late news of an old state does not replace
 *   a newer one. Among equal starts the last writer wins, as a correction does.
 * - `evi`: the highest confidence wins, and among equal ones the last writer.
 * - `await`: a human decides.
 * - `rule`: a policy decides.
 */
export const STRATEGIES = Object.freeze(['lww', 'lww-valid', 'evi', 'await', 'rule'] as const);

export type Strategy = (typeof STRATEGIES)[number];

/** The data of a conflict-set member that a strategy compares. */
export interface Candidate {
  /** The claim that it derives from, the last criterion of the total order (in TOKI: `fact_id`). */
  readonly claim: string;
  readonly confidence: number;
  /** The position of its commit in the commit order. */
  readonly assertedSeq: number;
  /** The asserted start of its valid time. */
  readonly assertedFrom: string;
  /** Whether it is the word of an assistant alone. Default: no. */
  readonly isOfAssistant?: boolean;
}

/**
 * Whether a strategy waits for an answer. The others find the winner themselves (TOKI Remark 3).
 */
export function isSelection(strategy: Strategy): boolean {
  return strategy === 'await' || strategy === 'rule';
}

/**
 * Negative if the strategy prefers `b`, positive if it prefers `a`, zero only for one claim. The
 * word of an assistant comes after every other one. The
 * order is total, so the winner does not depend on the order of the members (TOKI Prop. 14). For
 * strategies that wait for an answer, it orders only duplicates, as `lww` does.
 */
export function preference(strategy: Strategy, a: Candidate, b: Candidate): number {
  const byAuthor = Number(b.isOfAssistant ?? false) - Number(a.isOfAssistant ?? false);
  if (byAuthor !== 0) return byAuthor;
  const first =
    strategy === 'evi'
      ? a.confidence - b.confidence
      : strategy === 'lww-valid'
        ? compare(a.assertedFrom, b.assertedFrom)
        : 0;
  return first || a.assertedSeq - b.assertedSeq || compare(a.claim, b.claim);
}

/** The member that the strategy prefers to all others. */
export function preferred<T>(
  strategy: Strategy,
  members: readonly T[],
  candidate: (member: T) => Candidate,
): T {
  return members.reduce((best, next) =>
    preference(strategy, candidate(best), candidate(next)) < 0 ? next : best,
  );
}

/** @throws MemoryError `unknown_strategy`: there is no silent fallback (TOKI §3.4) */
export function requireStrategy(strategy: Strategy): void {
  if (STRATEGIES.includes(strategy)) return;
  throw new MemoryError(
    'unknown_strategy',
    `The strategy is not valid. Use one of ${STRATEGIES.join(', ')}.`,
  );
}

/** By UTF-16 code units. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
