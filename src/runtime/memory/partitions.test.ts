import { describe, expect, test } from 'vitest';
import { MemoryStore } from '#stores';
import { ALICE, changeOf } from '../../testing/fact-rows.ts';
import { batchOf } from '../../testing/store-rows.ts';
import { SHARED } from './line.ts';
import { Partitions } from './partitions.ts';

const CLAIMS = ['first', 'second'];
const SAID = changeOf(ALICE, 1, 2, [{ fact_id: 'first' }]);
const isSaid = async (store: MemoryStore): Promise<void> => {
  expect(await store.commit({ ...batchOf([]), facts: [SAID] })).toEqual({ status: 'committed' });
};

/** Reads with something that happens while the store is asked for the n-th time, before or after it looks; whether it came to that. */
async function read(
  n: number,
  when: 'before' | 'after',
  { begins, happens }: Record<'begins' | 'happens', (partitions: Partitions, store: MemoryStore) => unknown>,
): Promise<{ partitions: Partitions; hasHappened: boolean }> {
  const store = new MemoryStore();
  const partitions = new Partitions(store);
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
  await partitions.read(ALICE, CLAIMS, SHARED);
  return { partitions, hasHappened: calls >= n };
}

describe.each(['before', 'after'] as const)('while the store is asked, %s it looks', (when) => {
  test('what was accepted here and did not come to be is not known afterwards', async () => {
    let moments = 0;
    for (let n = 1; ; n++) {
      const { partitions, hasHappened } = await read(n, when, {
        begins: async (partitions) => {
          await partitions.read(ALICE, [], SHARED);
          partitions.accept([{ ...SAID, insert: [] }], 'ours');
        },
        happens: (partitions) => {
          partitions.forget([SAID]);
          partitions.settled([SAID]);
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
});
