import {
  type Hypothesis,
  isTestable,
  type KindOptions,
  type Mine,
  mayBreak,
} from '../hypothesis.ts';
import { errorFunction } from '../statistics/tails.ts';
import { type Observed, observed } from './observed.ts';

/**
 * Numbers and lengths that stop at a maximum. The largest value of each run counts. The maximum is
 * the largest of them, or the one before a gap if a few runs are far above, rounded up to two
 * digits.
 *
 * Chance: the null hypothesis is that values have no limit, with a normal or a heavier tail. The
 * larger of two chances counts. Of `m` exponential excesses over the median, the largest is at most
 * `r` times their mean with probability about `(1 − e^−r)^m`. Of `m` normal ones, it is at most `r`
 * times their root mean square with probability about `erf(r / √2)^m`. A maximum that is too close
 * to the other values is a limit.
 */
export const mineBounds: Mine = (runs, options) => {
  const places = observed(runs).filter(({ byRun }) => byRun.length >= options.minSupport);
  const numbers = places.filter(({ byRun }) =>
    byRun.every((values) => values.every((value) => typeof value === 'number')),
  );
  const tested = numbers.filter(({ byRun }) =>
    isTestable(LEAST_CHANCE ** Math.floor(byRun.length / 2)),
  );
  return { tested: tested.length, hypotheses: tested.flatMap((place) => boundOf(place, options)) };
};

function boundOf({ tool, path, of, byRun }: Observed, options: KindOptions): Hypothesis[] {
  const largest = byRun.map((values) => Math.max(...(values as number[]))).sort((a, b) => b - a);
  const kept = largest.slice(aboveGap(largest, mayBreak(largest.length, options)));
  const max = roundedUp(kept[0] as number);
  if (max <= 0) return [];
  return [{ rule: { kind: 'bound', tool, path, of, max }, p: chanceOfMaximum(kept) }];
}

/** The factor of one value above the median, if all of these are equal. */
const LEAST_CHANCE = errorFunction(Math.SQRT1_2);

/** How far a value must be above the next one to be an exception and not the end of the values. */
const GAP = 1.5;

/** The number of values above the largest gap, if at most `most` are above one. Sorted down. */
function aboveGap(sorted: readonly number[], most: number): number {
  let widest = GAP;
  let above = 0;
  for (let k = 1; k <= most; k++) {
    const [upper, lower] = [sorted[k - 1] as number, sorted[k] as number];
    if (lower <= 0 || upper / lower < widest) continue;
    widest = upper / lower;
    above = k;
  }
  return above;
}

/** The chance that values without a limit end so close to the others. Sorted down. */
function chanceOfMaximum(sorted: readonly number[]): number {
  const median = sorted[Math.floor(sorted.length / 2)] as number;
  const excesses = sorted.filter((value) => value > median).map((value) => value - median);
  if (excesses.length < 2) return 1;
  const largest = excesses[0] as number;
  const mean = excesses.reduce((sum, each) => sum + each, 0) / excesses.length;
  const square = excesses.reduce((sum, each) => sum + each * each, 0) / excesses.length;
  const exponential = 1 - Math.exp(-largest / mean);
  const normal = errorFunction(largest / Math.sqrt(2 * square));
  return Math.max(exponential, normal) ** excesses.length;
}

/** The number with two digits that is next above, so that a maximum is not a copy of one value. */
export function roundedUp(value: number): number {
  if (value <= 0) return value;
  if (Number.isInteger(value) && value < 100) return value;
  const unit = 10 ** (Math.floor(Math.log10(value)) - 1);
  return Number((Math.ceil(value / unit - 1e-9) * unit).toPrecision(2));
}
