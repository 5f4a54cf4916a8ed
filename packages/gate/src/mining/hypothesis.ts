import type { MinedRule } from './rule.ts';
import type { MiningRun } from './run.ts';

/** A rule that was tested on runs, with the chance that it holds as it does by accident. */
export interface Hypothesis {
  readonly rule: MinedRule;
  readonly p: number;
}

/** The hypotheses of one kind. `tested` also counts those that are not listed. */
export interface Tested {
  readonly hypotheses: readonly Hypothesis[];
  readonly tested: number;
}

/** The settings that a kind goes by. */
export interface KindOptions {
  /** The least number of runs that a rule is about. */
  readonly minSupport: number;
  /** The largest share of runs that may break a rule. */
  readonly exceptions: number;
}

export type Mine = (runs: readonly MiningRun[], options: KindOptions) => Tested;

/** The number of runs that may break a rule about `n` runs. */
export function mayBreak(n: number, { exceptions }: KindOptions): number {
  return Math.floor(n * exceptions + 1e-9);
}

/**
 * Whether a hypothesis could be found at all: its least possible p-value, by the numbers of runs
 * and calls alone, is small enough. Others are not tested, and do not count (R. E. Tarone, A
 * modified Bonferroni method for discrete data, Biometrics 46, 1990).
 */
export function isTestable(leastP: number): boolean {
  return leastP <= 0.05;
}

/**
 * The probability with which a run steps outside a set of values or a prefix, by the null
 * hypothesis. The runs have to show a smaller one.
 */
export const OUTSIDE = 0.1;
