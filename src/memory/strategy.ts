import { MemoryError } from './errors.ts';

/**
 * How a contradiction is settled, as it stands in `resolution_strategy_id` (seed Table 13, and one more).
 * - `lww`: the last writer wins, by the order of commits and never by a caller's clock.
 * - `lww-valid`: what began to be valid last wins, so that an old state that is heard of late does not displace a newer one.
 * - `evi`: the greatest confidence wins, and among equal ones the last writer.
 * - `await`: a person is asked.
 * - `rule`: a policy is asked.
 */
export const STRATEGIES = Object.freeze(['lww', 'lww-valid', 'evi', 'await', 'rule'] as const);

export type Strategy = (typeof STRATEGIES)[number];

/** What an operator knows of a member of a conflict set. */
export interface Candidate {
  /** The claim that it descends from: a total order has to end somewhere (seed: in `fact_id`). */
  readonly claim: string;
  readonly confidence: number;
  /** The place of its commit in the true order. */
  readonly assertedSeq: number;
  /** Since when it was said to be valid. */
  readonly assertedFrom: string;
}

/** Whether an operator waits for an answer, where the others find the winner themselves (seed Remark 3). */
export function isSelection(strategy: Strategy): boolean {
  return strategy === 'await' || strategy === 'rule';
}

/**
 * Below zero where the strategy prefers `b`, above where it prefers `a`; zero only for one claim. It is a total order, and so the winner
 * of a conflict set does not depend on the order in which its members are met (seed Prop. 14). Where the members are asked
 * about it orders duplicates only, as `lww` does.
 */
export function preference(strategy: Strategy, a: Candidate, b: Candidate): number {
  const first =
    strategy === 'evi'
      ? a.confidence - b.confidence
      : strategy === 'lww-valid'
        ? compare(a.assertedFrom, b.assertedFrom)
        : 0;
  return first || a.assertedSeq - b.assertedSeq || compare(a.claim, b.claim);
}

/** The one that the strategy prefers to all others. */
export function preferred<T>(strategy: Strategy, members: readonly T[], candidate: (member: T) => Candidate): T {
  return members.reduce((best, next) => (preference(strategy, candidate(best), candidate(next)) < 0 ? next : best));
}

/** @throws MemoryError `unknown_strategy`: there is no silent fallback (seed §3.4) */
export function requireStrategy(strategy: Strategy): void {
  if (STRATEGIES.includes(strategy)) return;
  throw new MemoryError('unknown_strategy', `A strategy is one of ${STRATEGIES.join(', ')}.`);
}

/** By UTF-16 code units. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
