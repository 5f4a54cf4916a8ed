import { ALICE, changeOf } from '@assize/testing/internal/fact-rows.ts';
import { batchOf } from '@assize/testing/internal/store-rows.ts';
import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import type { PartitionName } from '#ledger';
import { SHARED } from '../visible/visibility.ts';
import { PartitionCache } from './partition-cache.ts';

const CLAIMS = ['first', 'second'];
const SAID = changeOf(ALICE, 1, 2, [{ fact_id: 'first' }]);
const isSaid = async (store: MemoryStore): Promise<void> => {
  expect(await store.commit({ ...batchOf([]), facts: [SAID] })).toEqual({ status: 'committed' });
};

/** Reads while a step runs before or after the store's n-th query. Returns whether the step ran. */
async function read(
  n: number,
  when: 'before' | 'after',
  {
    name = ALICE,
    begins,
    happens,
  }: Record<'begins' | 'happens', (partitions: PartitionCache, store: MemoryStore) => unknown> & {
    readonly name?: PartitionName;
  },
): Promise<{ partitions: PartitionCache; hasHappened: boolean }> {
  const store = new MemoryStore();
  const partitions = new PartitionCache(store);
  let calls = Number.NEGATIVE_INFINITY;
  const asked =
    <Given extends unknown[], Answer>(ask: (...given: Given) => Promise<Answer>) =>
    async (...given: Given): Promise<Answer> => {
      const isNow = ++calls === n;
      if (isNow && when === 'before') await happens(partitions, store);
      const answer = await ask.apply(store, given);
      if (isNow && when === 'after') await happens(partitions, store);
      return answer;
    };
  store.partition = asked(store.partition);
  store.facts = asked(store.facts);
  await begins(partitions, store);
  calls = 0;
  await partitions.read(name, CLAIMS, SHARED);
  return { partitions, hasHappened: calls >= n };
}

describe.each(['before', 'after'] as const)('while the store is asked, %s it looks', (when) => {
  test('an accepted change that was not committed is not known afterwards', async () => {
    let moments = 0;
    for (let n = 1; ; n++) {
      const { partitions, hasHappened } = await read(n, when, {
        begins: async (partitions) => {
          await partitions.read(ALICE, [], SHARED);
          partitions.accept([{ ...SAID, insert: [] }], 'ours');
        },
        happens: (partitions) => {
          partitions.evict([SAID]);
          partitions.complete([SAID]);
        },
      });
      if (!hasHappened) break;
      moments++;
      expect(partitions.get(ALICE, []), `${n}`).toBeUndefined();
    }
    expect(moments).toBeGreaterThanOrEqual(CLAIMS.length);
  });

  test('a claim that others make is known to be made where their change is', async () => {
    const known = new Set<string>();
    for (let n = 1; ; n++) {
      const { partitions, hasHappened } = await read(n, when, {
        begins: () => undefined,
        happens: (_, store) => isSaid(store),
      });
      if (!hasHappened) break;
      const { state, claims } = partitions.get(ALICE, CLAIMS)!;
      known.add(`${state?.version ?? 0} ${claims.get('first')}`);
    }
    expect(known).not.toContain('1 false');
    expect(known).toContain('0 false');
    expect(known).toContain(when === 'before' ? '1 true' : '0 true');
  });

  test.each(['nobody', 'somebody'])(
    'a claim is known with its change after another read; %s had read before',
    async (who) => {
      let moments = 0;
      for (let n = 1; ; n++) {
        const { partitions, hasHappened } = await read(n, when, {
          begins: async (partitions) => {
            if (who === 'somebody') await partitions.read(ALICE, [], SHARED);
          },
          happens: async (partitions, store) => {
            await isSaid(store);
            partitions.evict([SAID]);
            await partitions.read(ALICE, [], SHARED);
          },
        });
        if (!hasHappened) break;
        moments++;
        const { state, claims } = partitions.get(ALICE, []) ?? {};
        expect([n, state?.version, claims?.get('first')]).not.toEqual([n, 1, false]);
      }
      expect(moments).toBeGreaterThanOrEqual(CLAIMS.length);
    },
  );

  test('and where so much was made here meanwhile that it is not remembered', async () => {
    const many = Array.from({ length: 1_001 }, (_, n) => ({
      fact_id: n === 0 ? 'first' : `f${n}`,
      cardinality: 'multi-valued' as const,
    }));
    const said = changeOf({ ...ALICE, predicate: 'many' }, 1, 2, many);
    let moments = 0;
    for (let n = 1; ; n++) {
      const { partitions, hasHappened } = await read(n, when, {
        name: said.partition,
        begins: (partitions) => partitions.read(said.partition, [], SHARED),
        happens: async (partitions, store) => {
          partitions.accept([said], 'ours');
          expect(await store.commit({ ...batchOf([]), facts: [said] })).toEqual({
            status: 'committed',
          });
          partitions.complete([said]);
        },
      });
      if (!hasHappened) break;
      moments++;
      const { state, claims } = partitions.get(said.partition, []) ?? {};
      expect([n, state?.version, claims?.get('first')]).not.toEqual([n, 1, false]);
    }
    expect(moments).toBeGreaterThanOrEqual(CLAIMS.length);
  });
});

test('a differing compared partition is not cached, even if read concurrently', async () => {
  const store = new MemoryStore();
  const partitions = new PartitionCache(store);
  await partitions.read(ALICE, [], SHARED);
  await isSaid(store);
  const { partition } = store;
  store.partition = async (name) => {
    store.partition = partition;
    const answer = await partition.call(store, name);
    await partitions.read(ALICE, ['second'], SHARED);
    return answer;
  };
  await partitions.compare(ALICE, SHARED);
  expect(partitions.get(ALICE, [])).toBeUndefined();
});

test('an erasure’s change of an unread partition is not known afterwards', async () => {
  const partitions = new PartitionCache(new MemoryStore());
  const erasure = changeOf(ALICE, 2, 3, []);
  partitions.accept([erasure], 'ours');
  expect(partitions.get(ALICE, [])).toBeUndefined();
  expect(partitions.whenIdle(ALICE, 'others')).toBeDefined();
  partitions.complete([erasure]);
  expect(partitions.whenIdle(ALICE, 'others')).toBeUndefined();
});
