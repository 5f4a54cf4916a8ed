import { Point } from '@noble/ed25519';
import { sha512 } from '@noble/hashes/sha2.js';
import { areEqual, fromHex, joined } from './text.ts';

const P = 2n ** 255n - 19n;
const L = 2n ** 252n + 27742317777372353535851937790883648493n;

/** The encodings of low order, with the top bit cleared. */
const LOW_ORDER = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
].map(fromHex);

/** Whether an Ed25519 signature holds by the four rules of the ledger reference, section 2. */
export function holds(key: Uint8Array, signature: Uint8Array, message: Uint8Array): boolean {
  if (key.length !== 32 || signature.length !== 64) return false;
  const r = signature.subarray(0, 32);
  const s = numberOf(signature.subarray(32));
  if (!isUsable(key) || !isUsable(r) || s >= L) return false;
  const k = numberOf(sha512(joined(r, key, message))) % L;
  try {
    const side = Point.fromBytes(key, false).negate().multiply(k, false);
    return areEqual(Point.BASE.multiply(s, false).add(side).toBytes(), r);
  } catch {
    return false;
  }
}

/** Rules 1 and 2: a canonical encoding that is not of low order. */
function isUsable(encoded: Uint8Array): boolean {
  const cleared = Uint8Array.from(encoded);
  cleared[31] = (cleared[31] as number) & 0x7f;
  return numberOf(cleared) < P && !LOW_ORDER.some((low) => areEqual(low, cleared));
}

/** A number from little-endian bytes. */
function numberOf(bytes: Uint8Array): bigint {
  return bytes.reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n);
}
