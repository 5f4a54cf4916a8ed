import { form, requireForm } from '#base';
import { rounded } from './bm25.ts';

/** How little it matters where in a list something stands (Cormack, Clarke and Büttcher 2009). */
const K = 60;

/**
 * Reciprocal rank fusion: what stands at the n-th place of a list, from 1, gets 1 / (60 + n) for it. Best first; what is equally good
 * in the order of the first list that has it.
 * @throws ArgumentError `bad_argument`; what `keyOf` throws
 */
export function fuse<T>(
  lists: readonly (readonly T[])[],
  keyOf: (item: T) => string,
): { readonly item: T; readonly score: number }[] {
  requireForm(form.list(form.list(form.any)), lists, 'lists');
  requireForm(form.code, keyOf, 'keyOf');
  const fused = new Map<string, { readonly item: T; score: number }>();
  for (const list of lists)
    for (const [at, item] of list.entries()) {
      const key = keyOf(item);
      const known = fused.get(key) ?? { item, score: 0 };
      known.score += 1 / (K + at + 1);
      fused.set(key, known);
    }
  return [...fused.values()]
    .map(({ item, score }) => ({ item, score: rounded(score) }))
    .sort((a, b) => b.score - a.score);
}
