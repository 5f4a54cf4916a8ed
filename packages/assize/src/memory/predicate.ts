import { MemoryError } from './errors.ts';
import { requireStrategy, type Strategy } from './strategy.ts';

/**
 * Whether a subject has one object at a time, or any number. Without this, every second value would
 * be a false conflict.
 */
export type Cardinality = 'single-valued' | 'multi-valued';

/**
 * The part of a loser that stays valid outside the contest: all of it (`keep`, the leftovers of
 * SQL:2011), or nothing (`drop`, Algorithm 1 of TOKI). Segments won elsewhere stay in both cases.
 */
export type Remainder = 'keep' | 'drop';

/** The declaration of a predicate, for all its facts. */
export interface PredicateDeclaration {
  readonly cardinality: Cardinality;
  readonly strategy: Strategy;
  readonly remainder: Remainder;
}

/**
 * A complete declaration; `remainder` is `keep` by default.
 * @throws MemoryError `unknown_cardinality`, `unknown_strategy`, `unknown_remainder`
 */
export function declarePredicate(
  given: Pick<PredicateDeclaration, 'cardinality' | 'strategy'> & { readonly remainder?: Remainder },
): PredicateDeclaration {
  const { cardinality, strategy, remainder = 'keep' } = given;
  if (cardinality !== 'single-valued' && cardinality !== 'multi-valued')
    throw new MemoryError('unknown_cardinality', 'The cardinality is not valid. Use single-valued or multi-valued.');
  requireStrategy(strategy);
  if (remainder !== 'keep' && remainder !== 'drop')
    throw new MemoryError('unknown_remainder', 'The remainder rule is not valid. Use keep or drop.');
  return Object.freeze({ cardinality, strategy, remainder });
}
