import { entitiesOf, type Ontology } from './ontology.ts';
import { type Category, UPPER } from './vocabulary.ts';

/** The categories of a class, over all its superclasses. */
export interface Ascent {
  readonly categories: ReadonlySet<Category>;
  /** All classes on the way, itself included. */
  readonly above: ReadonlySet<string>;
  /** It is above itself. */
  readonly circular: boolean;
}

export function ascents(ontology: Ontology): ReadonlyMap<string, Ascent> {
  const parents = new Map(entitiesOf(ontology).map(({ term, parents }) => [term, parents]));
  return new Map([...parents.keys()].map((term) => [term, ascent(term, parents)]));
}

function ascent(term: string, parents: ReadonlyMap<string, readonly string[]>): Ascent {
  const above = new Set([term]);
  const categories = new Set<Category>();
  let circular = false;
  // A set that grows while it is gone through: each class is met once.
  for (const one of above) {
    const upper = UPPER[one];
    const next =
      upper === undefined
        ? (parents.get(one) ?? [])
        : upper.under === undefined
          ? []
          : [upper.under];
    if (upper?.category !== undefined) categories.add(upper.category);
    for (const parent of next) {
      circular ||= parent === term;
      above.add(parent);
    }
  }
  return { categories, above, circular };
}
