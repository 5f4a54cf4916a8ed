import { describe, expect, test } from 'vitest';
import {
  codeOf,
  entries,
  hex,
  logOf,
  readerOf,
} from '../../../../tests/support/ledger/merkle-fixtures.ts';
import { NaiveTree, UniformTree } from '../../../../tests/support/models/naive-tree.ts';
import { saidOf } from '../../../../tests/support/said-of.ts';
import { Frontier } from './frontier.ts';
import { consistencyProof, frontierAt, inclusionProof, type NodeReader, rootAt } from './tree.ts';
import { verifyConsistency, verifyInclusion } from './verify.ts';

const MAX = 130;
const data = entries(MAX);
const oracle = new NaiveTree(data);
const { read, nodes } = logOf(data);

describe('of all trees up to size 130', () => {
  test('every inclusion proof is that of RFC 6962, and verifies', () => {
    for (let size = 1; size <= MAX; size++) {
      for (let index = 0; index < size; index++) {
        const proof = inclusionProof(index, size, read);
        expect(proof.map(hex), `${index} in ${size}`).toEqual(oracle.path(index, size).map(hex));
        const claim = { index, size, leafHash: oracle.leaf(index), root: oracle.mth(0, size) };
        expect(verifyInclusion(claim, proof), `${index} in ${size}`).toBe(true);
      }
    }
  });

  test('every consistency proof is that of RFC 6962, and verifies', () => {
    for (let newer = 1; newer <= MAX; newer++) {
      for (let older = 1; older <= newer; older++) {
        const proof = consistencyProof(older, newer, read);
        expect(proof.map(hex), `${older} to ${newer}`).toEqual(oracle.proof(older, newer).map(hex));
        const heads = [older, newer].map((size) => ({ size, root: oracle.mth(0, size) }));
        expect(verifyConsistency(heads[0]!, heads[1]!, proof), `${older} to ${newer}`).toBe(true);
      }
    }
  });

  test('root and frontier match the tree of the time, at every size', () => {
    for (let size = 0; size <= MAX; size++) {
      expect(hex(rootAt(size, read))).toBe(hex(oracle.mth(0, size)));
      const frontier = new Frontier(frontierAt(size, read));
      expect(hex(frontier.root())).toBe(hex(oracle.mth(0, size)));
    }
  });

  test('proofs for a size need only nodes that were full at that size', () => {
    for (const size of [1, 2, 7, 8, 33, 100]) {
      const then = readerOf(nodes.filter(({ level, index }) => (index + 1) * 2 ** level <= size));
      for (let index = 0; index < size; index++)
        expect(() => inclusionProof(index, size, then)).not.toThrow();
      for (let older = 1; older <= size; older++)
        expect(() => consistencyProof(older, size, then)).not.toThrow();
    }
  });
});

describe('of very large trees', () => {
  const uniform = new UniformTree('x');
  const sizes = [31, 32, 33, 52, 53].flatMap((power) =>
    [-2, -1, 0, 1, 2].map((by) => 2 ** power + by),
  );
  const asked = sizes.filter(Number.isSafeInteger);

  test('proofs are right, from few reads', () => {
    for (const size of asked) {
      for (const place of [
        0,
        1,
        2 ** 31,
        2 ** 32 + 1,
        Math.floor(size / 3),
        size - 2,
        size - 1,
      ].filter((at) => at < size)) {
        const counter = counting(uniform);
        const proof = inclusionProof(place, size, counter.read);
        expect(proof.map(hex)).toEqual(uniform.path(BigInt(place), BigInt(size)).map(hex));
        expect(counter.reads).toBeLessThanOrEqual(2 * 53);
        const older = Math.max(place, 1);
        const steps = consistencyProof(BigInt(older), BigInt(size), counting(uniform).read);
        expect(steps.map(hex)).toEqual(uniform.proof(BigInt(older), BigInt(size)).map(hex));
      }
      expect(hex(rootAt(size, counting(uniform).read))).toBe(hex(uniform.mth(BigInt(size))));
    }
  });
});

describe('requests without a proof', () => {
  test('from nothing, and to itself, the proof is empty', () => {
    expect(consistencyProof(0, 0, read)).toEqual([]);
    expect(consistencyProof(0n, 9, read)).toEqual([]);
    expect(consistencyProof(9, 9n, read)).toEqual([]);
  });

  test.each<[string, () => unknown]>([
    ['a leaf beyond the tree', () => inclusionProof(5, 5, read)],
    ['a leaf of the empty tree', () => inclusionProof(0, 0, read)],
    ['a negative index', () => inclusionProof(-1, 5, read)],
    ['a negative bigint', () => inclusionProof(-1n, 5, read)],
    ['a broken index', () => inclusionProof(0.5, 5, read)],
    ['no number', () => inclusionProof(Number.NaN, 5, read)],
    ['a text', () => inclusionProof('1' as never, 5, read)],
    ['a size beyond 2^53-1', () => inclusionProof(0, 2n ** 53n, read)],
    ['a size beyond 2^53-1 that rounds', () => rootAt(2n ** 64n + 1n, read)],
    ['a newer tree that is smaller', () => consistencyProof(6, 5, read)],
    ['a negative size', () => consistencyProof(-1, 5, read)],
    ['an endless size', () => frontierAt(Number.POSITIVE_INFINITY, read)],
  ])('%s: refused', (_name, call) => {
    expect(saidOf(call)).toMatch('bad_argument: The');
  });

  test('a hash that the store has lost is named', () => {
    const lossy: NodeReader = (level, index) =>
      level === 2 && index === 1 ? undefined : read(level, index);
    expect(() => inclusionProof(0, 8, lossy)).toThrow(
      expect.objectContaining({ code: 'missing_node', evidence: { level: 2, index: 1 } }),
    );
    expect(codeOf(() => consistencyProof(4, 8, lossy))).toBe('missing_node');
    expect(codeOf(() => rootAt(13, lossy))).toBe(undefined);
    expect(codeOf(() => rootAt(7, lossy))).toBe(undefined);
  });

  test('a stored value that is not a hash is refused', () => {
    for (const bad of [null, new Uint8Array(31), 'x'.repeat(32)]) {
      expect(saidOf(() => inclusionProof(0, 8, () => bad as never))).toMatch(
        /^bad_argument: .*bytes; the hash of subtree/,
      );
      expect(saidOf(() => frontierAt(8, () => bad as never))).toMatch(
        /^bad_argument: .*bytes; the hash of subtree/,
      );
    }
  });
});

function counting(tree: UniformTree): { read: NodeReader; reads: number } {
  const counter = {
    reads: 0,
    read: (level: number, index: number) => {
      counter.reads += 1;
      expect(Number.isSafeInteger(index) && index >= 0).toBe(true);
      return tree.mth(2n ** BigInt(level));
    },
  };
  return counter;
}
