import { MerkleError } from './errors.ts';

/**
 * Number of leaves, or index of one. A `number` is for sizes up to 2^53-1. Sizes in texts go up to
 * 2^64-1.
 */
export type Size = number | bigint;

export const SIZE_MAX = 2n ** 64n - 1n;

/** A size of any origin, or undefined if the value is not a size. */
export function wideSize(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value >= 0n && value <= SIZE_MAX ? value : undefined;
  return Number.isSafeInteger(value) && (value as number) >= 0
    ? BigInt(value as number)
    : undefined;
}

/**
 * A size or index of a local log. Such a log counts its leaves with numbers.
 *
 * @throws MerkleError `bad_argument` when it is not a whole number from 0 to 2^53-1.
 */
export function countOf(value: Size, what: string): number {
  const count = typeof value === 'bigint' ? Number(value) : value;
  if (Number.isSafeInteger(count) && count >= 0) return count;
  throw new MerkleError('bad_argument', `${what} must be a whole number from 0 to 2^53-1.`, {
    evidence: { what },
  });
}
