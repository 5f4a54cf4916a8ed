import type { Strategy } from './strategy.ts';

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

/** A complete declaration; `remainder` is `keep` by default. */
export function declarePredicate({
  cardinality,
  strategy,
  remainder = 'keep',
}: Pick<PredicateDeclaration, 'cardinality' | 'strategy'> & {
  readonly remainder?: Remainder;
}): PredicateDeclaration {
  return { cardinality, strategy, remainder };
}
