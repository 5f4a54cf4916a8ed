/*
 * The rule for keys and signatures beyond what the library checks. RFC 8032 leaves room where verifiers disagree on
 * hostile input; a ledger needs one verdict, so this is the strictest rule in use, and all others accept what it accepts:
 *
 * - the key A and the point R of a signature are encoded canonically: y below p = 2^255-19 (section 5.1.3);
 * - neither A nor R is of low order: with such an A some signatures are valid for every text;
 * - the scalar S is below the group order L (section 5.1.7): otherwise a signature has a second form;
 * - the equation is checked without the cofactor, which is what OpenSSL does, byte for byte on R.
 */

const POINT_BYTES = 32;

/** y of the points of order 1, 2, 4 and 8, little-endian; the sign of x is the top bit of the last byte, masked here. */
const LOW_ORDER_Y: ReadonlySet<string> = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
]);

/** The group order L = 2^252 + 27742317777372353535851937790883648493, most significant byte first. */
const ORDER = Buffer.from('1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed', 'hex');

/** True when the encoding is the canonical one of its y: not 2^255-19 or more. */
export function isReduced(point: Uint8Array): boolean {
  if ((point[31]! & 0x7f) !== 0x7f || point[0]! < 0xed) return true;
  for (let i = 1; i < POINT_BYTES - 1; i++) if (point[i] !== 0xff) return true;
  return false;
}

/** True for a point whose order divides 8. To be asked of reduced encodings. */
export function isLowOrder(point: Uint8Array): boolean {
  const y = Buffer.from(point);
  y[31]! &= 0x7f;
  return LOW_ORDER_Y.has(y.toString('hex'));
}

/** True when the little-endian number is below L. */
export function isScalar(scalar: Uint8Array): boolean {
  return Buffer.compare(Buffer.from(scalar).reverse(), ORDER) < 0;
}
