import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hex } from '../../../../tests/support/ledger/merkle-fixtures.ts';
import { sha256 } from '../../../../tests/support/models/naive-tree.ts';
import { saidOf } from '../../../../tests/support/said-of.ts';
import { emptyRoot, joined, leafHash, nodeHash } from './hash.ts';

describe('hashes of RFC 6962 section 2.1', () => {
  test('known values', () => {
    expect(hex(emptyRoot())).toBe(
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    );
    expect(hex(leafHash(''))).toBe(
      '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    );
    expect(hex(leafHash('L123456'))).toBe(
      '395aa064aa4c29f7010acfe3f25db9485bbd4b91897b6ad7ad547639252b4d56',
    );
  });

  test('a leaf has prefix 0 and its data, a node prefix 1 and its children', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (data) => {
        expect(hex(leafHash(data))).toBe(hex(sha256(Buffer.of(0), data)));
      }),
    );
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        (l, r) => {
          expect(hex(nodeHash(l, r))).toBe(hex(sha256(Buffer.of(1), l, r)));
        },
      ),
    );
  });

  test('a string is hashed as UTF-8, also with a leading byte order mark or zero', () => {
    for (const text of ['{"é":"\u{1f600}"}', '\ufeff{}', '\0', '\0\0', 'x'.repeat(100_000)]) {
      expect(hex(leafHash(text))).toBe(hex(leafHash(new TextEncoder().encode(text))));
    }
  });

  test('a result is not changed by the next one', () => {
    const [one, two] = [leafHash('1'), leafHash('2')];
    const before = hex(nodeHash(one, two));
    const kept = nodeHash(one, two);
    nodeHash(two, one);
    leafHash('3');
    emptyRoot().fill(1);
    expect(hex(kept)).toBe(before);
    expect(hex(emptyRoot())).toBe(hex(sha256()));
  });

  test('subtrees side by side are joined from the right', () => {
    const [a, b, c] = [leafHash('a'), leafHash('b'), leafHash('c')] as const;
    expect(hex(joined([a, b, c]))).toBe(hex(nodeHash(a, nodeHash(b, c))));
    expect(hex(joined([a]))).toBe(hex(a));
    expect(hex(joined([]))).toBe(hex(emptyRoot()));
  });

  test('an invalid hash or invalid data is refused', () => {
    const hash = leafHash('');
    for (const bad of [
      new Uint8Array(31),
      new Uint8Array(33),
      'x'.repeat(32),
      undefined,
      null,
      Array(32).fill(0),
    ]) {
      expect(saidOf(() => nodeHash(bad as never, hash))).toMatch(
        /^bad_argument: .*bytes; the left child is not/,
      );
      expect(saidOf(() => nodeHash(hash, bad as never))).toMatch(
        /^bad_argument: .*bytes; the right child is not/,
      );
    }
    for (const bad of ['\ud800', 'a\udc00', undefined, null, 7, [1], {}]) {
      expect(saidOf(() => leafHash(bad as never))).toMatch(
        'bad_argument: The data of a leaf is bytes, or text without a lone',
      );
    }
  });
});
