import { isHashBytes, nodeHash, sameHash } from './hash.ts';
import { type Size, wideSize } from './size.ts';

/** The size and root of a tree. */
export interface TreeHead {
  readonly size: Size;
  /** 32 bytes. */
  readonly root: Uint8Array;
}

/** The claim that an inclusion proof must prove. */
export interface InclusionClaim {
  readonly index: Size;
  readonly size: Size;
  readonly leafHash: Uint8Array;
  readonly root: Uint8Array;
}

/**
 * Whether the proof shows that the leaf is at that index of the tree of that size and root (RFC
 * 9162 section 2.1.3.2). All input is untrusted: the answer is false, never an error, and after at
 * most 64 hashes.
 */
export function verifyInclusion(claim: InclusionClaim, proof: readonly Uint8Array[]): boolean {
  if (!isObject(claim)) return false;
  const [index, size] = [wideSize(claim.index), wideSize(claim.size)];
  if (index === undefined || size === undefined || index >= size) return false;
  if (!isHashBytes(claim.leafHash) || !isHashBytes(claim.root) || !isPath(proof)) return false;
  let [fn, sn, hash] = [index, size - 1n, claim.leafHash];
  for (const sibling of proof) {
    if (sn === 0n) return false;
    if (isOdd(fn) || fn === sn) {
      hash = nodeHash(sibling, hash);
      // At the right edge a node can be levels higher without having had a sibling.
      for (; !isOdd(fn) && fn !== 0n; fn >>= 1n) sn >>= 1n;
    } else {
      hash = nodeHash(hash, sibling);
    }
    fn >>= 1n;
    sn >>= 1n;
  }
  return sn === 0n && sameHash(hash, claim.root);
}

/**
 * Whether the proof shows that the newer tree continues the older one (RFC 9162 section 2.1.4.2).
 * Between equal sizes the proof is empty and the roots are equal. From size 0 nothing can be
 * proven, and the answer is false. All input is untrusted, as in `verifyInclusion`.
 */
export function verifyConsistency(
  older: TreeHead,
  newer: TreeHead,
  proof: readonly Uint8Array[],
): boolean {
  if (!isObject(older) || !isObject(newer)) return false;
  const [first, second] = [wideSize(older.size), wideSize(newer.size)];
  if (first === undefined || second === undefined || first === 0n || first > second) return false;
  if (!isHashBytes(older.root) || !isHashBytes(newer.root) || !isPath(proof)) return false;
  if (first === second) return proof.length === 0 && sameHash(older.root, newer.root);
  // A full older tree is itself the first node, and is not sent.
  const path = isPowerOfTwo(first) ? [older.root, ...proof] : proof;
  if (path.length === 0) return false;
  let [fn, sn] = [first - 1n, second - 1n];
  for (; isOdd(fn); fn >>= 1n) sn >>= 1n;
  let [olderHash, newerHash] = [path[0]!, path[0]!];
  for (const node of path.slice(1)) {
    if (sn === 0n) return false;
    if (isOdd(fn) || fn === sn) {
      olderHash = nodeHash(node, olderHash);
      newerHash = nodeHash(node, newerHash);
      // At the right edge a node can be levels higher without having had a sibling.
      for (; !isOdd(fn) && fn !== 0n; fn >>= 1n) sn >>= 1n;
    } else {
      newerHash = nodeHash(newerHash, node);
    }
    fn >>= 1n;
    sn >>= 1n;
  }
  return sn === 0n && sameHash(olderHash, older.root) && sameHash(newerHash, newer.root);
}

/**
 * Maximum path length in a tree of at most 2^64-1 leaves: 64, and one for the older tree's own
 * subtree.
 */
const PATH_MAX = 65;

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function isPath(proof: unknown): proof is readonly Uint8Array[] {
  if (!Array.isArray(proof) || proof.length > PATH_MAX) return false;
  // Not `every`: it would skip the holes of a sparse array.
  for (const hash of proof) if (!isHashBytes(hash)) return false;
  return true;
}

function isPowerOfTwo(value: bigint): boolean {
  return (value & (value - 1n)) === 0n;
}

function isOdd(value: bigint): boolean {
  return (value & 1n) === 1n;
}
