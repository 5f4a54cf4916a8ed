import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dataPath, hasData } from '../../../../tests/data.ts';
import { cases } from '../../../../tests/support/cases.ts';
import { entries, flipped } from '../../../../tests/support/ledger/merkle-fixtures.ts';
import { NaiveTree, sha256, UniformTree } from '../../../../tests/support/models/naive-tree.ts';
import { leafHash } from './hash.ts';
import { verifyConsistency, verifyInclusion } from './verify.ts';

const present =
  hasData('vectors', 'merkle-inclusion.jsonl') && hasData('vectors', 'merkle-consistency.jsonl');

describe('the published vectors of transparency-dev/merkle', () => {
  if (!present) test.skip(`no data at ${dataPath('vectors')}`, () => undefined);

  test.runIf(present)('98 of inclusion', () => {
    const vectors = vectorsOf('merkle-inclusion.jsonl');
    for (const { name, leafIdx, treeSize, leafHash, root, proof, wantErr } of vectors) {
      const claim = {
        index: BigInt(leafIdx),
        size: BigInt(treeSize),
        leafHash: base64(leafHash),
        root: base64(root),
      };
      expect(verifyInclusion(claim, (proof ?? []).map(base64)), name).toBe(!wantErr);
    }
    expect([vectors.length, vectors.filter(({ wantErr }) => !wantErr).length]).toEqual([98, 6]);
  });

  test.runIf(present)('98 of consistency', () => {
    const vectors = vectorsOf('merkle-consistency.jsonl');
    for (const { name, size1, size2, root1, root2, proof, wantErr } of vectors) {
      // One good vector has "don't care" for the roots. Here a root is 32 bytes, so its hash stands
      // for it.
      const bytes = (text: string) => (wantErr || text.length === 44 ? base64(text) : sha256(text));
      const older = { size: BigInt(size1), root: bytes(root1) };
      const newer = { size: BigInt(size2), root: bytes(root2) };
      expect(verifyConsistency(older, newer, (proof ?? []).map(base64)), name).toBe(!wantErr);
    }
    expect(vectors.length).toBe(98);
  });
});

const tree = new NaiveTree(entries(70));
const head = (size: number) => ({ size, root: tree.mth(0, size) as Uint8Array });

describe('a proof that was changed proves nothing', () => {
  const sizes = [2, 3, 4, 5, 6, 7, 8, 9, 16, 33, 47, 64, 70];

  test('of inclusion', () => {
    for (const size of sizes) {
      for (const index of new Set([0, 1, size >> 1, size - 2, size - 1])) {
        const claim = {
          index,
          size,
          leafHash: tree.leaf(index) as Uint8Array,
          root: head(size).root,
        };
        const proof: Uint8Array[] = tree.path(index, size);
        expect(verifyInclusion(claim, proof)).toBe(true);
        for (const changed of changes(proof)) expect(verifyInclusion(claim, changed)).toBe(false);
        for (let bit = 0; bit < 256; bit++) {
          expect(verifyInclusion({ ...claim, root: flipped(claim.root, bit) }, proof)).toBe(false);
          expect(verifyInclusion({ ...claim, leafHash: flipped(claim.leafHash, bit) }, proof)).toBe(
            false,
          );
        }
        for (let other = 0; other < size + 3; other++) {
          expect(verifyInclusion({ ...claim, index: other }, proof)).toBe(other === index);
        }
        for (const root of [claim.leafHash, head(size - 1).root, new Uint8Array(32)]) {
          expect(verifyInclusion({ ...claim, root }, proof)).toBe(false);
        }
      }
    }
  });

  test('of consistency', () => {
    for (const size of sizes) {
      for (const from of new Set([1, 2, size >> 1, size - 1])) {
        const [older, newer] = [head(from), head(size)];
        const proof: Uint8Array[] = tree.proof(from, size);
        if (from === size) continue;
        expect(verifyConsistency(older, newer, proof)).toBe(true);
        for (const changed of changes(proof))
          expect(verifyConsistency(older, newer, changed)).toBe(false);
        for (let bit = 0; bit < 256; bit++) {
          expect(
            verifyConsistency({ ...older, root: flipped(older.root, bit) }, newer, proof),
          ).toBe(false);
          expect(
            verifyConsistency(older, { ...newer, root: flipped(newer.root, bit) }, proof),
          ).toBe(false);
        }
        expect(verifyConsistency(newer, older, proof)).toBe(false);
        expect(
          verifyConsistency({ ...older, root: newer.root }, { ...newer, root: older.root }, proof),
        ).toBe(false);
        expect(verifyConsistency({ ...older, size: 0 }, newer, proof)).toBe(false);
        expect(verifyConsistency(older, { ...newer, size: 0 }, proof)).toBe(false);
      }
    }
  });

  test('between equal sizes only the empty proof and the same root will do', () => {
    for (const size of [1, 2, 3, 8, 70]) {
      expect(verifyConsistency(head(size), head(size), [])).toBe(true);
      expect(verifyConsistency(head(size), head(size), [head(size).root])).toBe(false);
      expect(verifyConsistency(head(size), { size, root: tree.leaf(1) }, [])).toBe(false);
    }
  });

  test('from the empty tree nothing is proven, with or without hashes', () => {
    for (const proof of [[], [head(0).root], [head(5).root]]) {
      expect(verifyConsistency(head(0), head(0), proof)).toBe(false);
      expect(verifyConsistency(head(0), head(5), proof)).toBe(false);
    }
    expect(
      verifyInclusion({ index: 0, size: 0, leafHash: head(0).root, root: head(0).root }, []),
    ).toBe(false);
  });

  test('two logs that part are not consistent by the proof of either', () => {
    const data = entries(40);
    const other = new NaiveTree(data.with(20, 'rewritten'));
    const honest = new NaiveTree(data);
    for (const size of [21, 30, 40]) {
      for (const from of [1, 7, 16, 20, 21].filter((at) => at < size)) {
        const newer = { size, root: other.mth(0, size) };
        const same = from <= 20;
        expect(
          verifyConsistency(
            { size: from, root: honest.mth(0, from) },
            newer,
            other.proof(from, size),
          ),
        ).toBe(same);
        expect(
          verifyConsistency(
            { size: from, root: honest.mth(0, from) },
            newer,
            honest.proof(from, size),
          ),
        ).toBe(false);
      }
    }
  });
});

describe('up to 2^64-1', () => {
  const uniform = new UniformTree('x');
  const hash = leafHash('x');
  const sizes = [31n, 32n, 33n, 53n, 62n, 63n, 64n]
    .flatMap((power) => [-3n, -2n, -1n, 0n, 1n, 2n].map((by) => 2n ** power + by))
    .filter((size) => size < 2n ** 64n);

  test('true proofs verify and false ones do not', () => {
    for (const size of sizes) {
      const places = [
        0n,
        1n,
        2n ** 31n - 1n,
        2n ** 32n,
        2n ** 53n + 1n,
        size / 3n,
        size - 2n,
        size - 1n,
      ];
      for (const index of places.filter((at) => at < size)) {
        const proof: Uint8Array[] = uniform.path(index, size);
        const claim = { index, size, leafHash: hash, root: uniform.mth(size) };
        expect(verifyInclusion(claim, proof), `${index} in ${size}`).toBe(true);
        for (const changed of edgeChanges(proof))
          expect(verifyInclusion(claim, changed)).toBe(false);
        if (index === 0n) continue;
        const [older, newer] = [index, size].map((at) => ({
          size: at,
          root: uniform.mth(at) as Uint8Array,
        }));
        const steps: Uint8Array[] = uniform.proof(index, size);
        expect(verifyConsistency(older!, newer!, steps), `${index} to ${size}`).toBe(true);
        for (const changed of edgeChanges(steps))
          expect(verifyConsistency(older!, newer!, changed)).toBe(false);
      }
    }
  });

  test('a number is taken as the number it is', () => {
    for (const size of sizes.filter((at) => at < 2n ** 53n)) {
      const proof = uniform.path(size - 1n, size);
      const claim = {
        index: Number(size - 1n),
        size: Number(size),
        leafHash: hash,
        root: uniform.mth(size),
      };
      expect(verifyInclusion(claim, proof)).toBe(true);
    }
  });

  test('an invalid size is refused', () => {
    const root = uniform.mth(5n);
    const proof = uniform.path(1n, 5n);
    for (const bad of [
      -1,
      -1n,
      1.5,
      Number.NaN,
      2 ** 53,
      2n ** 64n,
      '1',
      undefined,
      null,
      {},
      [],
      true,
    ]) {
      expect(verifyInclusion({ index: bad as never, size: 5, leafHash: hash, root }, proof)).toBe(
        false,
      );
      expect(verifyInclusion({ index: 1, size: bad as never, leafHash: hash, root }, proof)).toBe(
        false,
      );
      expect(verifyConsistency({ size: bad as never, root }, { size: 5, root }, [])).toBe(false);
      expect(verifyConsistency({ size: 5, root }, { size: bad as never, root }, [])).toBe(false);
    }
  });
});

test('an index below 0 is not the last leaf of a full tree', () => {
  for (const size of [1, 2, 8, 64]) {
    const claim = { size, leafHash: tree.leaf(size - 1), root: head(size).root };
    const proof = tree.path(size - 1, size);
    expect(verifyInclusion({ ...claim, index: size - 1 }, proof)).toBe(true);
    for (const index of [-1, -1n, -2n, BigInt(-size), 2n ** 64n - 1n]) {
      expect(verifyInclusion({ ...claim, index }, proof)).toBe(false);
    }
  }
});

test('rubbish of any kind is answered with false, and soon', () => {
  const hash = fc.oneof(
    fc.uint8Array({ minLength: 32, maxLength: 32 }),
    fc.uint8Array({ maxLength: 40 }),
    fc.anything(),
  );
  const size = fc.oneof(fc.bigInt({ min: -1n, max: 2n ** 65n }), fc.nat(), fc.anything());
  const proof = fc.oneof(fc.array(hash, { maxLength: 80 }), fc.anything());
  fc.assert(
    fc.property(size, size, hash, hash, proof, (a, b, x, y, path) => {
      expect(
        verifyInclusion({ index: a, size: b, leafHash: x, root: y } as never, path as never),
      ).toBe(false);
      expect(
        verifyConsistency(
          { size: a, root: x } as never,
          { size: b, root: y } as never,
          path as never,
        ),
      ).toBe(false);
    }),
    { numRuns: cases(2_000) },
  );
});

test('endless proofs and proofs with holes are refused', () => {
  const claim = { index: 0, size: 2n ** 64n - 1n, leafHash: tree.leaf(0), root: tree.mth(0, 3) };
  const endless = Array<Uint8Array>(1_000_000).fill(tree.leaf(1));
  for (const proof of [endless, Array(3), Array(4_000_000_000), { length: 1, 0: tree.leaf(1) }]) {
    expect(verifyInclusion(claim, proof as never)).toBe(false);
    expect(verifyConsistency({ size: 3, root: claim.root }, { ...claim }, proof as never)).toBe(
      false,
    );
  }
});

test('of a proof that is too long nothing is read', () => {
  const long = Array<Uint8Array>(66).fill(tree.leaf(1));
  Object.defineProperty(long, 0, { get: () => expect.unreachable() });
  expect(
    verifyInclusion(
      { index: 0, size: 2n ** 64n - 1n, leafHash: tree.leaf(0), root: head(3).root },
      long,
    ),
  ).toBe(false);
  expect(verifyConsistency(head(3), head(70), long)).toBe(false);
});

/** Every bit flip, and every hash dropped, added or swapped with another. */
function* changes(proof: readonly Uint8Array[]): Generator<Uint8Array[]> {
  for (const [at, hash] of proof.entries()) {
    for (let bit = 0; bit < 256; bit++) yield proof.with(at, flipped(hash, bit));
  }
  yield* shortChanges(proof);
  for (let a = 0; a < proof.length; a++) {
    for (let b = 0; b < a; b++) yield proof.with(a, proof[b]!).with(b, proof[a]!);
  }
}

function* shortChanges(proof: readonly Uint8Array[]): Generator<Uint8Array[]> {
  for (let at = 0; at <= proof.length; at++) {
    yield proof.toSpliced(at, 0, new Uint8Array(32));
    if (at === proof.length) continue;
    yield proof.toSpliced(at, 1);
    yield proof.toSpliced(at, 0, proof[at]!);
    yield proof.with(at, flipped(proof[at]!, 7));
    yield proof.with(at, proof[at]!.subarray(0, 31));
  }
}

/** Changes at both ends and in the middle. */
function edgeChanges(proof: readonly Uint8Array[]): Uint8Array[][] {
  const middle = proof.length >> 1;
  return [
    [new Uint8Array(32), ...proof],
    [...proof, new Uint8Array(32)],
    ...(proof.length === 0
      ? []
      : [proof.slice(1), proof.slice(0, -1), proof.with(middle, flipped(proof[middle]!, 7))]),
  ];
}

interface Vector {
  readonly name: string;
  readonly wantErr: boolean;
  readonly leafIdx: string;
  readonly treeSize: string;
  readonly leafHash: string;
  readonly root: string;
  readonly size1: string;
  readonly size2: string;
  readonly root1: string;
  readonly root2: string;
  readonly proof: readonly string[] | null;
}

/** Sizes go up to 2^64-1, so they are parsed from their digits. */
function vectorsOf(file: string): Vector[] {
  const lines = readFileSync(dataPath('vectors', file), 'utf8').trim().split('\n');
  return lines.map(
    (line) =>
      JSON.parse(line.replace(/"(leafIdx|treeSize|size[12])":(\d+)/g, '"$1":"$2"')) as Vector,
  );
}

function base64(text: string): Uint8Array {
  return Buffer.from(text, 'base64');
}
