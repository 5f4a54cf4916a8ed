import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { codeOf, entries, hex } from '../../../../tests/support/ledger/merkle-fixtures.ts';
import { NaiveTree, UniformTree } from '../../../../tests/support/models/naive-tree.ts';
import { saidOf } from '../../../../tests/support/said-of.ts';
import { Frontier, type FrontierState, type TreeNode } from './frontier.ts';
import { leafHash } from './hash.ts';

const MAX = 130;
const data = entries(MAX);
const oracle = new NaiveTree(data);
const leaves = data.map((text) => leafHash(text));

describe('a log that grows', () => {
  test('has the root of RFC 6962 at every size, one leaf at a time', () => {
    const frontier = new Frontier();
    for (let size = 0; size <= MAX; size++) {
      expect([frontier.size, hex(frontier.root())]).toEqual([size, hex(oracle.mth(0, size))]);
      if (size < MAX) frontier.append([leaves[size]!]);
    }
  });

  test('has one root and the same nodes for any batching and after each restart', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat({ max: 20 }), { maxLength: 12 }),
        fc.boolean(),
        (batches, restart) => {
          let frontier = new Frontier();
          const named: TreeNode[] = [];
          let size = 0;
          for (const batch of batches) {
            const end = Math.min(size + batch, MAX);
            named.push(...frontier.append(leaves.slice(size, end)));
            size = end;
            if (restart) frontier = new Frontier(structuredClone(frontier.state()));
          }
          expect(frontier.size).toBe(size);
          expect(hex(frontier.root())).toBe(hex(oracle.mth(0, size)));
          expect(named.map(shown).sort()).toEqual(fullSubtrees(size).sort());
        },
      ),
    );
  });

  test('names children before their parents', () => {
    const seen = new Set<string>();
    for (const { level, index } of new Frontier().append(leaves)) {
      if (level > 0) {
        expect(
          seen.has(`${level - 1}/${2 * index}`) && seen.has(`${level - 1}/${2 * index + 1}`),
        ).toBe(true);
      }
      seen.add(`${level}/${index}`);
    }
  });

  test('appends nothing when there is nothing to append', () => {
    const frontier = new Frontier();
    expect(frontier.append([])).toEqual([]);
    expect([frontier.size, frontier.state().hashes]).toEqual([0, []]);
  });
});

describe('a state', () => {
  test('is apart from the log it was taken from', () => {
    const frontier = new Frontier();
    frontier.append(leaves.slice(0, 7));
    const before = frontier.state();
    frontier.append(leaves.slice(7, 20));
    expect(before.size).toBe(7);
    expect(hex(new Frontier(before).root())).toBe(hex(oracle.mth(0, 7)));
    (before.hashes as Uint8Array[]).pop();
    expect(hex(frontier.root())).toBe(hex(oracle.mth(0, 20)));
  });

  test('is apart from the log that was made of it', () => {
    const given = stateAt(7);
    const frontier = new Frontier(given);
    frontier.append(leaves.slice(7, 20));
    expect(hex(new Frontier(given).root())).toBe(hex(oracle.mth(0, 7)));
  });

  test.each<[string, unknown, unknown, string]>([
    ['too few hashes', 7, leaves.slice(0, 2), 'bad_argument'],
    ['too many hashes', 8, leaves.slice(0, 2), 'bad_argument'],
    ['hashes of nothing', 0, leaves.slice(0, 1), 'bad_argument'],
    ['an invalid hash', 1, [new Uint8Array(31)], 'bad_argument'],
    ['a negative size', -1, [], 'bad_argument'],
    ['half a leaf', 1.5, leaves.slice(0, 1), 'bad_argument'],
    ['a size beyond 2^53-1', 2 ** 53, leaves.slice(0, 1), 'bad_argument'],
    ['a size that is a text', '1', leaves.slice(0, 1), 'bad_argument'],
  ])('with %s is refused', (_name, size, hashes, code) => {
    expect(codeOf(() => new Frontier({ size, hashes } as never))).toBe(code);
  });
});

test('an append that is refused adds nothing', () => {
  const frontier = new Frontier();
  frontier.append(leaves.slice(0, 5));
  for (const bad of [
    [leaves[5], new Uint8Array(31)],
    [leaves[5], undefined],
    Object.assign(Array(2), { 0: leaves[5] }),
  ]) {
    expect(saidOf(() => frontier.append(bad as never))).toMatch(
      /^bad_argument: .*bytes; the hash of a leaf is not/,
    );
    expect([frontier.size, hex(frontier.root())]).toEqual([5, hex(oracle.mth(0, 5))]);
  }
});

describe('sizes beyond 32 bits', () => {
  const uniform = new UniformTree('x');
  const leaf = leafHash('x');

  /** A log of `size` leaves, without appending them. */
  function grown(size: number): Frontier {
    const bits = [...size.toString(2)];
    const hashes = bits.flatMap((bit, at) =>
      bit === '1' ? [uniform.mth(2n ** BigInt(bits.length - 1 - at))] : [],
    );
    return new Frontier({ size, hashes });
  }

  test.each([31, 32, 33, 40, 52, 53].map((power) => [power, 2 ** power]))(
    'appends around 2^%i',
    (_power, at) => {
      const frontier = grown(at - 3);
      for (let size = at - 3; size < Math.min(at + 3, Number.MAX_SAFE_INTEGER); size++) {
        expect(hex(frontier.root())).toBe(hex(uniform.mth(BigInt(size))));
        const full = frontier.append([leaf]);
        for (const { level, index, hash } of full) {
          expect((index + 1) * 2 ** level).toBe(size + 1);
          expect(hex(hash)).toBe(hex(uniform.mth(2n ** BigInt(level))));
        }
        expect(full.length).toBe(1 + trailingZeros(size + 1));
      }
    },
  );

  test('ends at 2^53-1', () => {
    const frontier = grown(Number.MAX_SAFE_INTEGER);
    expect(saidOf(() => frontier.append([leaf]))).toMatch(
      'bad_argument: The size of the log must be a whole number from',
    );
    expect(frontier.append([])).toEqual([]);
    expect(hex(frontier.root())).toBe(hex(uniform.mth(2n ** 53n - 1n)));
  });
});

function stateAt(size: number): FrontierState {
  const frontier = new Frontier();
  frontier.append(leaves.slice(0, size));
  return frontier.state();
}

function trailingZeros(size: number): number {
  return size.toString(2).length - size.toString(2).replace(/0+$/, '').length;
}

function fullSubtrees(size: number): string[] {
  const all: string[] = [];
  for (let level = 0; 2 ** level <= size; level++) {
    for (let index = 0; (index + 1) * 2 ** level <= size; index++) {
      all.push(
        shown({ level, index, hash: oracle.mth(index * 2 ** level, (index + 1) * 2 ** level) }),
      );
    }
  }
  return all;
}

function shown({ level, index, hash }: TreeNode): string {
  return `${level}/${index} ${hex(hash)}`;
}
