/*
 * The keys and signatures that are verified at all. Under RFC 8032, verifiers and even versions of
 * one library disagree on hostile input. A ledger needs one permanent verdict, so this is the
 * strictest rule in use, and every other verifier accepts the signatures that it accepts:
 *
 * - the key A and the point R of the signature are encoded canonically: y is below p = 2^255-19
 *   (section 5.1.3);
 * - neither is of low order: under such an A one signature is valid for many texts, without any
 *   secret;
 * - the scalar S is below the group order L (section 5.1.7): otherwise a signature has a second
 *   form;
 * - then, in `ed25519.ts`, the equation without the cofactor: the expected R is computed and
 *   compared byte for byte.
 *
 * A key with a part of low order is accepted if the equation holds. No seed produces such a key.
 */

/**
 * y of the points of order 1, 2, 4 and 8, little-endian. The top bit (the sign of x) is cleared.
 */
const LOW_ORDER_Y: ReadonlySet<string> = new Set([
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '0000000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
]);

/** L = 2^252 + 27742317777372353535851937790883648493, the most significant byte first. */
const GROUP_ORDER = Buffer.from(
  '1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed',
  'hex',
);

/** True if the 32 bytes of a key or of R can be verified at all. */
export function isUsablePoint(point: Uint8Array): boolean {
  return isReduced(point) && !isLowOrder(point);
}

/** True if the 32 bytes are the canonical encoding of their y. */
export function isReduced(point: Uint8Array): boolean {
  if ((point[31]! & 0x7f) !== 0x7f || point[0]! < 0xed) return true;
  for (let i = 1; i < 31; i++) if (point[i] !== 0xff) return true;
  return false;
}

/** True if the order of the point divides 8. For reduced encodings only. */
export function isLowOrder(point: Uint8Array): boolean {
  const y = Buffer.from(point);
  y[31]! &= 0x7f;
  return LOW_ORDER_Y.has(y.toString('hex'));
}

/** True if the 32 little-endian bytes are below L. */
export function isScalar(scalar: Uint8Array): boolean {
  return Buffer.compare(Buffer.from(scalar).reverse(), GROUP_ORDER) < 0;
}
