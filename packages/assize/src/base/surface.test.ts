import { expect, test } from 'vitest';
import * as base from './index.ts';

test('the names of the floor change only by decision', () => {
  expect(Object.keys(base).sort()).toEqual([
    'ArgumentError',
    'AssizeError',
    'DuplicatePackageError',
    'GenerationalMap',
    'LruCache',
    'NodeError',
    'TransientMap',
    'arg',
    'checkArgument',
    'codeFor',
    'deepFreeze',
    'defineOwn',
    'errorMessage',
    'isAssizeError',
    'isComputed',
    'isInstance',
    'isRecord',
    'isUnwantedPromise',
    'markOwnPackage',
    'nearestName',
    'refuseDuplicatePackage',
    'requireOwnPackage',
    'thrownText',
    'toError',
    'unlessAborted',
    'withoutPassword',
  ]);
});
