import { canonicalize } from 'assize/internal/canon';
import {
  type Hypothesis,
  isTestable,
  type KindOptions,
  type Mine,
  mayBreak,
  OUTSIDE,
} from '../hypothesis.ts';
import type { Scalar } from '../rule.ts';
import { binomialAtMost } from '../statistics/tails.ts';
import { type Observed, observed } from './observed.ts';

/** A longer list of values is not a rule that a person would write. */
export const VALUES_MAX = 8;

/**
 * Texts and flags with few values, and not both values of a flag. A value that only one run has is
 * an exception.
 *
 * Chance: the null hypothesis is that each run brings another value with probability `OUTSIDE`. The
 * runs after the last new value are the trials.
 */
export const mineValues: Mine = (runs, options) => {
  const places = observed(runs).filter(
    ({ of, byRun }) =>
      of === 'value' &&
      byRun.length >= options.minSupport &&
      isTestable((1 - OUTSIDE) ** (byRun.length - 1)) &&
      byRun.every((values) => values.every(isName)),
  );
  return { tested: places.length, hypotheses: places.flatMap((place) => valuesOf(place, options)) };
};

function isName(value: Scalar): boolean {
  return typeof value === 'string' || typeof value === 'boolean';
}

function valuesOf({ tool, path, byRun }: Observed, options: KindOptions): Hypothesis[] {
  const runsOf = new Map<Scalar, number[]>();
  for (const [index, values] of byRun.entries())
    for (const value of new Set(values)) {
      const runs = runsOf.get(value) ?? [];
      runs.push(index);
      runsOf.set(value, runs);
    }
  const common = [...runsOf].filter(([, runs]) => runs.length > 1);
  if (common.length === 0 || common.length > VALUES_MAX) return [];
  const known = new Set(common.map(([value]) => value));
  if (known.has(true) && known.has(false)) return [];
  const outside = byRun.flatMap((values, index) =>
    values.every((value) => known.has(value)) ? [] : [index],
  );
  if (outside.length > mayBreak(byRun.length, options)) return [];
  const lastNew = Math.max(...common.map(([, [first]]) => first as number));
  const later = outside.filter((index) => index > lastNew).length;
  const values = [...known].sort((a, b) => (canonicalize(a) < canonicalize(b) ? -1 : 1));
  const p = binomialAtMost(byRun.length - 1 - lastNew, OUTSIDE, later);
  return [{ rule: { kind: 'values', tool, path, values }, p }];
}
