import { rounded } from './bm25.ts';

/** Damps the weight of the rank (Cormack, Clarke and Büttcher 2009). */
const K = 60;

/**
 * Reciprocal rank fusion: the n-th item of a list, from 1, scores its weight / (60 + n), and
 * nothing in a list of weight 0. Weights are 1 by default. Best first; equal scores are in the
 * order of the first list that has the item.
 * @throws ArgumentError `bad_argument`; the errors of `keyOf`
 */
export function fuse<T>(
  lists: readonly (readonly T[])[],
  keyOf: (item: T) => string,
  weights?: readonly number[],
): { readonly item: T; readonly score: number }[] {
  const fused = new Map<string, { readonly item: T; score: number }>();
  for (const [n, list] of lists.entries()) {
    const weight = weights === undefined ? 1 : weights[n]!;
    for (const [at, item] of weight === 0 ? [] : list.entries()) {
      const key = keyOf(item);
      const known = fused.get(key) ?? { item, score: 0 };
      known.score += weight / (K + at + 1);
      fused.set(key, known);
    }
  }
  return [...fused.values()]
    .map(({ item, score }) => ({ item, score: rounded(score) }))
    .sort((a, b) => b.score - a.score);
}
