import type { Polynomial, Token } from 'assize/internal/memory/provenance';
import { degreeOf, withExponents } from './exponents.ts';

/**
 * Theorem 11: the answer with one occurrence less of a row, computed from the answer alone by the
 * shift X^i ↦ X^(i−1). The carrier must write k occurrences of the row as X^k. Returns `undefined`
 * for a degree below 2: no occurrence would be left, and the shift would make the row's part
 * unconditional.
 *
 * The result is correct if each monomial uses the row once, and wrong if a query joins the row with
 * itself: X² does not distinguish two occurrences from one used twice. Assize therefore gives each
 * write its own token, and deletes with `polynomial.substitute(token, Polynomial.zero)`. This is
 * always correct.
 */
export function recoverByShift(answer: Polynomial, token: Token): Polynomial | undefined {
  return degreeOf(answer, token) < 2 ? undefined : shift(answer, token);
}

/** The formal shift X^i ↦ X^(i−1), for any degree. */
export function shift(polynomial: Polynomial, token: Token): Polynomial {
  return withExponents(polynomial, (exponent, name) => (name === token ? exponent - 1 : exponent));
}
