import { sha256 } from '../bytes/hash.ts';
import { joined } from '../bytes/text.ts';

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

/** The hash of a leaf with this data. */
export function leafHash(data: Uint8Array): Uint8Array {
  return sha256(joined(LEAF, data));
}

/**
 * The root that an inclusion proof leads to (RFC 9162, section 2.1.3.2). Undefined if the proof
 * does not have the length for this index and size.
 */
export function rootFrom(
  index: bigint,
  size: bigint,
  leaf: Uint8Array,
  path: readonly Uint8Array[],
): Uint8Array | undefined {
  if (index >= size) return undefined;
  let fn = index;
  let sn = size - 1n;
  let r = leaf;
  for (const p of path) {
    if (sn === 0n) return undefined;
    if (fn % 2n === 1n || fn === sn) {
      r = sha256(joined(NODE, p, r));
      while (fn % 2n === 0n && fn !== 0n) {
        fn /= 2n;
        sn /= 2n;
      }
    } else r = sha256(joined(NODE, r, p));
    fn /= 2n;
    sn /= 2n;
  }
  return sn === 0n ? r : undefined;
}
