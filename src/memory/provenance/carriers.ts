import { Polynomial } from './polynomial.ts';
import type { Token } from './token.ts';

/**
 * A commutative semiring with natural order in which the audit row's provenance can be kept (§2.2, §4.4). What Assize stores is
 * `MULTIDEGREE`, which is N[X,T] itself; the other two are images of it, and stand here for what the paper says about them.
 */
export interface Carrier<K> {
  readonly name: 'multilinear' | 'multidegree' | 'boolean';
  readonly zero: K;
  readonly one: K;
  plus(a: K, b: K): K;
  times(a: K, b: K): K;
  equals(a: K, b: K): boolean;
  /** a ≼ b: some c of the carrier gives a ⊕ c = b. */
  precedes(a: K, b: K): boolean;
  /** The image of a polynomial: a homomorphism of semirings, so that it makes no difference when it is taken. */
  project(polynomial: Polynomial): K;
  /** The tokens that the value still names. */
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
  degree: (value, token) => value.degree(token),
  text: String,
} satisfies Carrier<Polynomial>);

/** N[X,T] with x⊗x = x: which writes were used together, but not how often; coefficients stay. */
export const MULTILINEAR: Carrier<Polynomial> = Object.freeze({
  ...MULTIDEGREE,
  name: 'multilinear',
  times: (a, b) => onceEach(a.times(b)),
  project: onceEach,
} satisfies Carrier<Polynomial>);

/** The Boolean reduct: whether there is any provenance at all. */
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
  // It "collapses every nonzero exponent to one", and says not even whose that was.
  degree: (value) => Number(value),
  text: (value) => (value ? '1' : '0'),
} satisfies Carrier<boolean>);

function onceEach(polynomial: Polynomial): Polynomial {
  return polynomial.withExponents(() => 1);
}
