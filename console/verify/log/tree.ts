import { sha256 } from '../bytes/hash.ts';
import { areEqual, joined } from '../bytes/text.ts';

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
      r = nodeHash(p, r);
      while (fn % 2n === 0n && fn !== 0n) {
        fn /= 2n;
        sn /= 2n;
      }
    } else r = nodeHash(r, p);
    fn /= 2n;
    sn /= 2n;
  }
  return sn === 0n ? r : undefined;
}

/** The hash of a node with these children. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(joined(NODE, left, right));
}

export interface TreeHead {
  readonly size: bigint;
  readonly root: Uint8Array;
}

/**
 * Whether a proof shows that a tree continues an older one (RFC 9162, section 2.1.4.2). An older
 * tree without leaves is continued by every tree.
 */
export function continues(older: TreeHead, newer: TreeHead, proof: readonly Uint8Array[]): boolean {
  if (older.size > newer.size) return false;
  if (older.size === 0n)
    return proof.length === 0 && areEqual(older.root, sha256(new Uint8Array()));
  if (older.size === newer.size) return proof.length === 0 && areEqual(older.root, newer.root);
  // The root of a full older tree is the first node, and is not in the proof.
  const isFull = (older.size & (older.size - 1n)) === 0n;
  const [first, ...rest] = isFull ? [older.root, ...proof] : proof;
  if (first === undefined) return false;
  let fn = older.size - 1n;
  let sn = newer.size - 1n;
  for (; fn % 2n === 1n; fn /= 2n) sn /= 2n;
  let [fr, sr] = [first, first];
  for (const c of rest) {
    if (sn === 0n) return false;
    if (fn % 2n === 1n || fn === sn) {
      fr = nodeHash(c, fr);
      sr = nodeHash(c, sr);
      for (; fn % 2n === 0n && fn !== 0n; fn /= 2n) sn /= 2n;
    } else sr = nodeHash(sr, c);
    fn /= 2n;
    sn /= 2n;
  }
  return sn === 0n && areEqual(fr, older.root) && areEqual(sr, newer.root);
}
