import * as base from '#base';
import type { Case, Exempt } from './case.ts';
import { exempt, PORT, takes } from './table.ts';

export const BASE: Readonly<Record<string, Case | Exempt>> = {
  checkArgument: exempt('makes these errors'),
  deepFreeze: exempt('freezes data of the package'),
  'new GenerationalMap': takes((size) => new base.GenerationalMap(size), [3]),
  'GenerationalMap.get': takes((key) => new base.GenerationalMap(3).get(key), ['a']),
  'GenerationalMap.set': takes((key, value) => new base.GenerationalMap(3).set(key, value), ['a', 1]),
  'GenerationalMap.clear': takes(() => new base.GenerationalMap(3).clear(), []),
  'new TransientMap': takes(() => new base.TransientMap(), []),
  'TransientMap.get': takes((key) => new base.TransientMap().get(key), ['a']),
  'TransientMap.has': takes((key) => new base.TransientMap().has(key), ['a']),
  'TransientMap.set': takes((key, value) => new base.TransientMap().set(key, value), ['a', 1]),
  'TransientMap.delete': takes((key) => new base.TransientMap().delete(key), ['a']),
  'TransientMap.clear': takes(() => new base.TransientMap().clear(), []),
  'TransientMap.size': takes(() => new base.TransientMap().size, []),
  'TransientMap.keys': takes(() => new base.TransientMap().keys(), []),
  'TransientMap.values': takes(() => new base.TransientMap().values(), []),
  'new LruCache': takes((size) => new base.LruCache(size), [3]),
  'LruCache.get': takes((key, make) => new base.LruCache(3).get(key, make), ['a', () => 1], { 1: PORT }),
  'LruCache.size': takes(() => new base.LruCache(3).size, []),
  isComputed: exempt('on the way of every item: its caller has looked at the array'),
  isAssizeError: takes(base.isAssizeError, [new Error('x'), 'bad_key']),
  markOwnPackage: exempt('marks what another function of this package has made'),
  refuseDuplicatePackage: takes(base.refuseDuplicatePackage, [{}, 'The thing']),
  requireOwnPackage: takes(base.requireOwnPackage, [base.markOwnPackage({}), 'The thing']),
  defineOwn: exempt('on the way of every value: what it takes is checked before, and said by its type'),
  withoutPassword: exempt('takes the URL that a caller has checked, on the way to an output'),
  toError: takes((thrown) => base.toError(thrown), [1]),
};
