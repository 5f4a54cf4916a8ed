import { expect, test } from 'vitest';
import * as base from './index.ts';

test('the names of the floor, which only a decision changes', () => {
  expect(Object.keys(base).sort()).toEqual([
    'ArgumentError',
    'AssizeError',
    'BoundedCache',
    'ChurnMap',
    'CopyError',
    'NodeError',
    'RecentMap',
    'form',
    'isAssizeError',
    'isComputed',
    'madeHere',
    'refuseOtherCopy',
    'requireForm',
    'requireMadeHere',
    'setOwn',
    'thrownOf',
  ]);
});
