import type { Dollars } from './schema.ts';

/**
 * Whole cents: the unit that rules compare. The records have dollars in floating point, as the
 * benchmark computes them.
 */
export function cents(amount: Dollars): number {
  // Without the zero a difference of nothing could be -0: not a canonical number.
  return Math.round(amount * 100) + 0;
}

/**
 * Dollars rounded to cents, at the places where the benchmark rounds. The benchmark rounds halves
 * to even, this function away from zero. A sum of whole cents is never near a half.
 */
export function rounded(amount: Dollars): Dollars {
  return Number(amount.toFixed(2)) + 0;
}
