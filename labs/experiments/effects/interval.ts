import { numbersFrom } from './seeded-random.ts';

/** How often values are drawn again. */
const RESAMPLES = 1_000;
/** Of the 95 % that an interval holds. */
const TAIL = 0.025;

/** A mean, and half of its 95 % interval. */
export interface Estimate {
  readonly mean: number;
  readonly within: number;
}

/**
 * The mean of these values with its 95 % interval, by the bootstrap (seed 003 §6.1.2). The
 * bootstrap draws the same number of values from them, again and again. The middle 95 % of the
 * means of the draws are the interval. The same values and seed have the same interval.
 */
export function estimateOf(values: readonly number[], seed: number): Estimate {
  if (values.length === 0) throw new RangeError('There is no mean of no values.');
  const next = numbersFrom('bootstrap', seed);
  const means = Array.from({ length: RESAMPLES }, () => {
    let sum = 0;
    for (let i = 0; i < values.length; i++)
      sum += values[Math.floor(next() * values.length)] as number;
    return sum / values.length;
  }).sort((a, b) => a - b);
  const [low, high] = [quantile(means, TAIL), quantile(means, 1 - TAIL)];
  return { mean: meanOf(values), within: (high - low) / 2 };
}

export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Of sorted values, the one that so many of them, from 0 to 1, do not exceed. */
export function quantile(sorted: readonly number[], part: number): number {
  const at = Math.min(sorted.length - 1, Math.max(0, Math.ceil(part * sorted.length) - 1));
  return sorted[at] as number;
}
