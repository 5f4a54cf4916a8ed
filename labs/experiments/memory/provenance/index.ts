/**
 * The carriers of provenance that the paper compares (TOKI §2.2, §4.4), and the recovery by shift
 * of Theorem 11. The product stores polynomials (`assize/internal/memory/provenance`) alone.
 *
 * Guarantees: each carrier is a commutative semiring with a natural order, and an image of the
 * polynomials.
 *
 * Never: does I/O, reads a clock, or draws a random number.
 */
export { BOOLEAN, type Carrier, MULTIDEGREE, MULTILINEAR } from './carriers.ts';
export { degreeOf, withExponents } from './exponents.ts';
export { recoverByShift, shift } from './recovery.ts';
