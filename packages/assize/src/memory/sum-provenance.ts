import type { MergeProvenance, Provenance } from './fact.ts';
import type { Group } from './group.ts';

/** The sum over all participating rows, in an order that depends only on them. */
export function mergedProvenance(
  groups: readonly Pick<Group, 'items'>[],
  merge: MergeProvenance,
): Provenance {
  const terms = groups.flatMap(({ items }) => items.map(({ row }) => row.provenance_id));
  return terms.sort().reduce(merge);
}

/**
 * Length in characters from which the provenance of a fact stops growing: 32 writes of other
 * entries.
 */
const CONFIRMED_MAX = 2_200;

/**
 * The provenance of a fact: the sum over all rows that assert it, existing facts first, up to the
 * length limit. Each confirmation therefore takes the same space. A claim left out of the sum is
 * listed as merged in its entry.
 */
export function confirmedProvenance(items: Group['items'], merge: MergeProvenance): Provenance {
  const terms = (isNew: boolean): Provenance[] =>
    items.flatMap((item) => (item.isNew === isNew ? [item.row.provenance_id] : [])).sort();
  return [...terms(false), ...terms(true)].reduce((sum, next) =>
    sum.length < CONFIRMED_MAX ? merge(sum, next) : sum,
  );
}
