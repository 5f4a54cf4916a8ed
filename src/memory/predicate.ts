import { form, requireForm } from '#base';
import { MemoryError } from './errors.ts';
import { requireStrategy, type Strategy } from './strategy.ts';

/** Whether a subject has one object at a time, or as many as are asserted; without it every second value would be a false conflict. */
export type Cardinality = 'single-valued' | 'multi-valued';

/**
 * What of a loser stays believed that was not contested: all of it (`keep`, the leftovers of SQL:2011), or nothing (`drop`, which is
 * Algorithm 1 of the seed). What it won elsewhere stays in either case.
 */
export type Remainder = 'keep' | 'drop';

/** What is said once of a predicate, for all its facts. */
export interface PredicateDeclaration {
  readonly cardinality: Cardinality;
  readonly strategy: Strategy;
  readonly remainder: Remainder;
}

/**
 * A declaration with nothing left out; `remainder` is `keep` by default.
 * @throws MemoryError `unknown_cardinality`, `unknown_strategy`, `unknown_remainder`; ArgumentError `bad_argument`
 */
export function declarePredicate(
  given: Pick<PredicateDeclaration, 'cardinality' | 'strategy'> & { readonly remainder?: Remainder },
): PredicateDeclaration {
  requireForm(form.object, given, 'declaration');
  const { cardinality, strategy, remainder = 'keep' } = given;
  if (cardinality !== 'single-valued' && cardinality !== 'multi-valued')
    throw new MemoryError('unknown_cardinality', 'A predicate is single-valued or multi-valued.');
  requireStrategy(strategy);
  if (remainder !== 'keep' && remainder !== 'drop')
    throw new MemoryError('unknown_remainder', 'What is left of a loser is kept (keep) or not (drop).');
  return Object.freeze({ cardinality, strategy, remainder });
}
