import type { Dollars } from './schema.ts';

/**
 * Whole cents: the unit that rules compare. The records have dollars in floating point, as the
 * benchmark computes them.
 */
export function cents(amount: Dollars): number {
  // Without the zero a difference of nothing could be -0, which is no canonical number.
  return Math.round(amount * 100) + 0;
}

/**
 * Dollars rounded to cents, where the benchmark rounds. It rounds halves to even and this away from zero; a sum of whole
 * cents is never near one.
 */
export function rounded(amount: Dollars): Dollars {
  return Number(amount.toFixed(2)) + 0;
}
