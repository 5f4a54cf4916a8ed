import { MerkleError } from './errors.ts';
import type { FrontierState } from './frontier.ts';
import { joined, requireHash } from './hash.ts';
import { countOf, type Size } from './size.ts';

/**
 * The hash of a full subtree, as `Frontier.append` named it, or undefined if it is missing. Only
 * subtrees that were full at the requested size are read, so the log can grow in the meantime.
 */
export type NodeReader = (level: number, index: number) => Uint8Array | undefined;

/**
 * Leaves from `start` up to and excluding `end`: a subtree of the tree, full or at its right edge.
 */
type Leaves = readonly [start: number, end: number];

/**
 * PATH(m, D[n]) of RFC 6962 section 2.1.1: proves that the leaf at `index` is in the tree of that
 * size. O(log n) reads.
 *
 * @throws MerkleError `bad_argument` when the index is not below the size; `missing_node`,
 * `bad_argument` from the reader.
 */
export function inclusionProof(index: Size, size: Size, read: NodeReader): Uint8Array[] {
  const [leaf, leaves] = [countOf(index, 'The index'), countOf(size, 'The size')];
  if (leaf >= leaves)
    throw outside('The index must be below the size of the tree.', { index: leaf, size: leaves });
  const siblings: Leaves[] = [];
  let [start, end] = [0, leaves];
  while (end - start > 1) {
    const middle = start + splitOf(end - start);
    siblings.push(leaf < middle ? [middle, end] : [start, middle]);
    [start, end] = leaf < middle ? [start, middle] : [middle, end];
  }
  return siblings.reverse().map((range) => hashOf(range, read));
}

/**
 * PROOF(m, D[n]) of RFC 6962 section 2.1.2: proves that the tree of size `newer` continues that of
 * size `older`. Empty if the sizes are equal, and from size 0, from which nothing can be proven.
 * O(log n) reads.
 *
 * @throws MerkleError `bad_argument` when `older` is above `newer`; `missing_node`, `bad_argument`
 * from the reader.
 */
export function consistencyProof(older: Size, newer: Size, read: NodeReader): Uint8Array[] {
  const [from, to] = [countOf(older, 'The older size'), countOf(newer, 'The newer size')];
  if (from > to)
    throw outside('The older size must not be above the newer.', { older: from, newer: to });
  if (from === 0) return [];
  const parts: Leaves[] = [];
  let [start, end] = [0, to];
  while (end !== from) {
    const middle = start + splitOf(end - start);
    parts.push(from <= middle ? [middle, end] : [start, middle]);
    [start, end] = from <= middle ? [start, middle] : [middle, end];
  }
  // The subtree at the end of the older tree. If that is the whole older tree, its root is already
  // known.
  if (start > 0) parts.push([start, end]);
  return parts.reverse().map((range) => hashOf(range, read));
}

/**
 * MTH(D[n]): the root of the tree at that size. O(log n) reads.
 *
 * @throws MerkleError `bad_argument`; `missing_node`, `bad_argument` from the reader.
 */
export function rootAt(size: Size, read: NodeReader): Uint8Array {
  return hashOf([0, countOf(size, 'The size')], read);
}

/**
 * The integrator's state at that size, from the rows of its store. O(log n) reads.
 *
 * @throws MerkleError `bad_argument`; `missing_node`, `bad_argument` from the reader.
 */
export function frontierAt(size: Size, read: NodeReader): FrontierState {
  const count = countOf(size, 'The size');
  return { size: count, hashes: subtreeHashes([0, count], read) };
}

/** The largest power of two below `count` (2 or more): RFC 6962 splits a tree there. */
function splitOf(count: number): number {
  let split = 1;
  while (split * 2 < count) split *= 2;
  return split;
}

function hashOf(leaves: Leaves, read: NodeReader): Uint8Array {
  return joined(subtreeHashes(leaves, read));
}

/** The full subtrees of the leaves, the largest first. */
function subtreeHashes([start, end]: Leaves, read: NodeReader): Uint8Array[] {
  const hashes: Uint8Array[] = [];
  for (let level = 52, at = start; at < end; level--) {
    const width = 2 ** level;
    if (end - at < width) continue;
    hashes.push(nodeAt(level, at / width, read));
    at += width;
  }
  return hashes;
}

function nodeAt(level: number, index: number, read: NodeReader): Uint8Array {
  const hash = read(level, index);
  if (hash === undefined) {
    const message = `The hash of full subtree ${index} of level ${level} is missing. Rebuild the hashes from the leaves, or restore the log from a backup.`;
    throw new MerkleError('missing_node', message, { evidence: { level, index } });
  }
  requireHash(hash, `the hash of subtree ${index} of level ${level}`);
  return hash;
}

function outside(message: string, evidence: Readonly<Record<string, number>>): MerkleError {
  return new MerkleError('bad_argument', message, { evidence });
}
