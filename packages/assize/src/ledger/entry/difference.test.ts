import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '#base';
import { copyJson } from '#canon';
import { applyPatches, fresh } from '../replay/fold.ts';
import { difference } from './difference.ts';
import type { Patch } from './patch.ts';

const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('a', 'b', 'a/b~', '1')), tie('value'), {
      maxKeys: 5,
    }),
  ),
}));

describe('difference', () => {
  test('leads from one value to the other, by the rules that a ledger folds with', () => {
    fc.assert(
      fc.property(value, value, (a, b) => {
        const patches = difference({ root: a } as Json, { root: b } as Json);
        const fold = fresh(copyJson({ root: a }));
        applyPatches(fold, patches);
        expect(fold.state).toEqual({ root: b });
      }),
      { numRuns: 500 },
    );
  });

  test('is empty for equal values, also when they are other objects', () => {
    fc.assert(
      fc.property(value, (a) => {
        expect(difference(a, copyJson(a))).toEqual([]);
      }),
    );
  });

  test('reports only the changes', () => {
    const before = { list: [1, 2, 3], same: { deep: [1] }, 'a/b~': 1, gone: true };
    const after = { list: [1, 5], same: { deep: [1] }, 'a/b~': 2, new: null };
    expect(difference(before, after)).toEqual([
      { op: 'replace', path: '/a~1b~0', value: 2 },
      { op: 'remove', path: '/gone' },
      { op: 'replace', path: '/list/1', value: 5 },
      { op: 'remove', path: '/list/2' },
      { op: 'add', path: '/new', value: null },
    ] satisfies Patch[]);
  });

  test('takes a list and an object for different things', () => {
    expect(difference({ a: [] }, { a: {} })).toEqual([{ op: 'replace', path: '/a', value: {} }]);
  });
});
