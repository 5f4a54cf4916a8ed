import { Polynomial, type Token } from 'assize/internal/memory/provenance';
import { degreeOf, withExponents } from './exponents.ts';

/**
 * A commutative semiring with natural order that can carry the provenance of audit rows (§2.2,
 * §4.4). Assize stores `MULTIDEGREE`: N[X,T] itself. The other two carriers are images of
 * it, used to check the paper's claims.
 */
export interface Carrier<K> {
  readonly name: 'multilinear' | 'multidegree' | 'boolean';
  readonly zero: K;
  readonly one: K;
  plus(a: K, b: K): K;
  times(a: K, b: K): K;
  equals(a: K, b: K): boolean;
  /** a ≼ b: some c of the carrier satisfies a ⊕ c = b. */
  precedes(a: K, b: K): boolean;
  /**
   * The image of a polynomial. The projection is a homomorphism of semirings, so it can be applied
   * at any step.
   */
  project(polynomial: Polynomial): K;
  /** The tokens in the value. */
  tokens(value: K): readonly Token[];
  /** Definition 10. */
  degree(value: K, token: Token): number;
  text(value: K): string;
}

/** N[X,T]#, where x⊗x = x²: sums and products of polynomials as they are. */
export const MULTIDEGREE: Carrier<Polynomial> = Object.freeze({
  name: 'multidegree',
  zero: Polynomial.zero,
  one: Polynomial.one,
  plus: (a, b) => a.plus(b),
  times: (a, b) => a.times(b),
  equals: (a, b) => a.equals(b),
  precedes: (a, b) => a.precedes(b),
  project: (polynomial) => polynomial,
  tokens: (value) => value.tokens,
  degree: degreeOf,
  text: String,
} satisfies Carrier<Polynomial>);

/** N[X,T] with x⊗x = x: which writes were used together, without exponents. Coefficients stay. */
export const MULTILINEAR: Carrier<Polynomial> = Object.freeze({
  ...MULTIDEGREE,
  name: 'multilinear',
  times: (a, b) => onceEach(a.times(b)),
  project: onceEach,
} satisfies Carrier<Polynomial>);

/** The Boolean reduct: whether any provenance exists. */
export const BOOLEAN: Carrier<boolean> = Object.freeze({
  name: 'boolean',
  zero: false,
  one: true,
  plus: (a, b) => a || b,
  times: (a, b) => a && b,
  equals: (a, b) => a === b,
  precedes: (a, b) => !a || b,
  project: (polynomial) => polynomial.terms.size > 0,
  tokens: () => [],
  // The reduct "collapses every nonzero exponent to one", for every token alike.
  degree: (value) => Number(value),
  text: (value) => (value ? '1' : '0'),
} satisfies Carrier<boolean>);

function onceEach(polynomial: Polynomial): Polynomial {
  return withExponents(polynomial, () => 1);
}
