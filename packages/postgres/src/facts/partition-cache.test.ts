import type { PartitionName } from 'assize/internal/ledger';
import { OPEN_END, type OpenKey, OpenSet } from 'assize/internal/memory';
import { expect, test } from 'vitest';
import { PartitionCache, type PartitionFacts } from './partition-cache.ts';

const name = (subject: string): PartitionName => ({ space: 's', subject, predicate: 'p' });
const AT = '2026-01-01T00:00:00.000000Z';

function stateOf(version: number, rows = 1): PartitionFacts {
  const open = Array.from(
    { length: rows },
    (_, n): OpenKey => ({
      fact_id: `f${n}`,
      system_time_start: AT,
      valid_from: AT,
      valid_to: OPEN_END,
    }),
  );
  return {
    names: { hash: 'ab'.repeat(32), bytes: 1 },
    version,
    latest: AT,
    several: true,
    since: undefined,
    open: new OpenSet(open),
  };
}

test('taking removes entries from the cache until set again, all or none', () => {
  const known = new PartitionCache();
  const [a, b] = [stateOf(1), stateOf(2)];
  known.set(1, name('a'), a);
  known.set(1, name('b'), b);
  known.set(1, name('nobody'), undefined);
  expect(known.take([name('a'), name('unknown')])).toBeUndefined();
  const taken = known.take([name('a'), name('nobody'), name('a')]);
  expect([...taken!.values()]).toEqual([a, undefined, a]);
  expect(known.take([name('a')])).toBeUndefined();
  expect([...known.take([name('b')])!.values()]).toEqual([b]);
  known.set(1, name('a'), a);
  expect([...known.take([name('a')])!.values()]).toEqual([a]);
});

test('a read replaces no later write in the cache, nor survives a rebuild', () => {
  const known = new PartitionCache();
  const written = stateOf(3);
  known.set(1, name('a'), written);
  known.set(1, name('a'), stateOf(2));
  expect([...known.take([name('a')])!.values()]).toEqual([written]);
  known.set(1, name('a'), written);
  known.set(2, name('b'), stateOf(1));
  expect(known.take([name('a')])).toBeUndefined();
  expect(known.run).toBe(2);
});

test('the cache keeps open rows up to its limit, and counts repeated rows once', () => {
  const known = new PartitionCache();
  const large = stateOf(1, 60_000);
  known.set(1, name('small'), stateOf(1));
  for (let n = 0; n < 5; n++) known.set(1, name('large'), large);
  expect(known.take([name('large'), name('small')])).toBeDefined();
  known.set(1, name('small'), stateOf(1));
  for (let n = 0; n < 5; n++) {
    known.set(1, name('large'), large);
    expect(known.take([name('large'), name('small')])).toBeDefined();
    known.set(1, name('small'), stateOf(1));
  }
  known.set(1, name('large'), large);
  known.set(1, name('other'), stateOf(1, 60_000));
  expect(known.take([name('large')])).toBeUndefined();
  expect(known.take([name('other')])).toBeDefined();
});
