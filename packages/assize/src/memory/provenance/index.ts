/**
 * The writes and the trust that a fact derives from: polynomials over tokens (TOKI §2.2, §3.3,
 * Appendix B.3).
 *
 * Guarantees: equal provenance is equal text. Sums, products and deletions are exact, and the laws
 * of a commutative semiring hold. After any addition, the earlier value precedes the new one in the
 * natural order.
 *
 * Never: does I/O, reads a clock, draws a random number, rounds, drops a token, or reads a text
 * that is not canonical.
 */
export { ProvenanceError } from './errors.ts';
export { type Monomial, mergeProvenance, multipliedProvenance, Polynomial } from './polynomial.ts';
export {
  placedToken,
  readToken,
  readTrust,
  type Token,
  type Trust,
  type Trusted,
  trustToken,
  writeToken,
} from './token.ts';
export { trustProvenance } from './trust.ts';
