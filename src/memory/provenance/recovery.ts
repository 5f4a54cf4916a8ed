import type { Polynomial } from './polynomial.ts';
import type { Token } from './token.ts';

/**
 * Theorem 11: the answer as it would be with one occurrence less of a row, from the answer alone, where the carrier wrote k
 * occurrences of the row as the power X^k: the shift X^i ↦ X^(i−1). `undefined` where the degree is below 2, when no occurrence is left
 * and the shift would make the row's part of the answer unconditional.
 *
 * It is right where each monomial uses the row once, and wrong where a query joins the row with itself: from X² nobody can tell two
 * occurrences from one that was used twice. Assize therefore gives each write a token of its own, and deletes by
 * `polynomial.substitute(token, Polynomial.zero)`, which is right always.
 */
export function recoverByShift(answer: Polynomial, token: Token): Polynomial | undefined {
  return answer.degree(token) < 2 ? undefined : shift(answer, token);
}

/** The formal shift X^i ↦ X^(i−1), whatever the degree. */
export function shift(polynomial: Polynomial, token: Token): Polynomial {
  return polynomial.withExponents((exponent, name) => (name === token ? exponent - 1 : exponent));
}
