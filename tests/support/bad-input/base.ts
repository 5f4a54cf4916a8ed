import * as base from '#base';
import type { Case, Exempt } from './case.ts';
import { exempt, PORT, takes } from './table.ts';

export const BASE: Readonly<Record<string, Case | Exempt>> = {
  requireForm: exempt('makes these errors'),
  'new RecentMap': takes((size) => new base.RecentMap(size), [3]),
  'RecentMap.get': takes((key) => new base.RecentMap(3).get(key), ['a']),
  'RecentMap.set': takes((key, value) => new base.RecentMap(3).set(key, value), ['a', 1]),
  'RecentMap.clear': takes(() => new base.RecentMap(3).clear(), []),
  'new ChurnMap': takes(() => new base.ChurnMap(), []),
  'ChurnMap.get': takes((key) => new base.ChurnMap().get(key), ['a']),
  'ChurnMap.has': takes((key) => new base.ChurnMap().has(key), ['a']),
  'ChurnMap.set': takes((key, value) => new base.ChurnMap().set(key, value), ['a', 1]),
  'ChurnMap.delete': takes((key) => new base.ChurnMap().delete(key), ['a']),
  'ChurnMap.clear': takes(() => new base.ChurnMap().clear(), []),
  'ChurnMap.size': takes(() => new base.ChurnMap().size, []),
  'ChurnMap.keys': takes(() => new base.ChurnMap().keys(), []),
  'ChurnMap.values': takes(() => new base.ChurnMap().values(), []),
  'new BoundedCache': takes((size) => new base.BoundedCache(size), [3]),
  'BoundedCache.get': takes((key, make) => new base.BoundedCache(3).get(key, make), ['a', () => 1], { 1: PORT }),
  'BoundedCache.size': takes(() => new base.BoundedCache(3).size, []),
  isComputed: exempt('on the way of every item: its caller has looked at the array'),
  isAssizeError: takes(base.isAssizeError, [new Error('x'), 'bad_key']),
  madeHere: exempt('marks what another function of this package has made'),
  refuseOtherCopy: takes(base.refuseOtherCopy, [{}, 'The thing']),
  requireMadeHere: takes(base.requireMadeHere, [base.madeHere({}), 'The thing']),
  setOwn: exempt('on the way of every value: what it takes is checked before, and said by its type'),
  thrownOf: takes((thrown) => base.thrownOf(thrown), [1]),
};
