import { expect, test } from 'vitest';
import * as base from './index.ts';

test('the names of the floor, which only a decision changes', () => {
  expect(Object.keys(base).sort()).toEqual([
    'ArgumentError',
    'AssizeError',
    'LruCache',
    'TransientMap',
    'DuplicatePackageError',
    'NodeError',
    'GenerationalMap',
    'form',
    'isAssizeError',
    'isComputed',
    'markOwnPackage',
    'refuseDuplicatePackage',
    'checkArgument',
    'requireOwnPackage',
    'defineOwn',
    'toError',
  ]);
});
