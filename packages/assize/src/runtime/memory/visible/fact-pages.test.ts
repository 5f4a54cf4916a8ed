import { ALICE, changeOf, day, keyOfRow } from '@assize/testing/internal/fact-rows.ts';
import { batchOf, entryAfter } from '@assize/testing/internal/store-rows.ts';
import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import type { FactQuery, FactReads, FactVersion, PartitionName } from '#ledger';
import { OPEN_END } from '#memory';
import { clinic } from '../../../../../../tests/support/clinic/clinic.ts';
import { writ } from '../../../../../../tests/support/clinic/clinic-memory.ts';
import { runtimeOver } from '../../../../../../tests/support/ledger/runtime.ts';
import { factPages } from './fact-pages.ts';

const BOB: PartitionName = { ...ALICE, subject: 'bob' };
const CAROL: PartitionName = { ...ALICE, subject: 'carol' };

/** That number of facts of one partition, one per day. */
const daily = (who: string, facts: number) =>
  Array.from({ length: facts }, (_, n) => ({
    fact_id: `${who}${n}`,
    valid_from: day(n + 1),
    valid_to: day(n + 2),
  }));

/** A store that runs a step after its n-th answer, n from 1. */
class Busy extends MemoryStore {
  asked: FactQuery[] = [];
  onAnswer: (n: number) => Promise<unknown> = async () => undefined;

  override async facts(query: FactQuery): Promise<FactVersion[]> {
    const page = await super.facts(query);
    this.asked.push(query);
    await this.onAnswer(this.asked.length);
    return page;
  }
}

/**
 * Bob has more facts than a page. His first one is replaced from the third day of the next year on.
 */
async function begun() {
  const store = new Busy();
  await store.commit(batchOf(entryAfter(undefined, 't')));
  const write = async (...facts: ReturnType<typeof changeOf>[]) =>
    expect(await store.commit({ ...batchOf([]), facts })).toMatchObject({ status: 'committed' });
  await write(
    changeOf(ALICE, 1, 1, daily('a', 10)),
    changeOf(BOB, 1, 1, daily('b', 1_500)),
    changeOf(CAROL, 1, 1, daily('c', 10)),
  );
  const [first] = await store.facts({ ...BOB, limit: 1 });
  store.asked = [];
  const other = { fact_id: 'other', valid_from: day(1), valid_to: day(2) };
  return { store, change: () => write(changeOf(BOB, 2, 368, [other], [keyOfRow(first!)])) };
}

const all = async (pages: AsyncGenerator<FactVersion[]>): Promise<FactVersion[]> => {
  const rows: FactVersion[] = [];
  for await (const page of pages) rows.push(...page);
  return rows;
};
const ids = (rows: readonly FactVersion[], { subject }: PartitionName): string[] =>
  rows.flatMap((row) => (row.subject === subject ? [row.fact_id] : []));
const SPACE = { space: ALICE.space } as const;
const named = (who: string, facts: number) => daily(who, facts).map(({ fact_id }) => fact_id);

describe('a paged read under concurrent changes', () => {
  test.each([1, 2, 3])(
    'has each partition in one snapshot, changed after any page: %i',
    async (n) => {
      for (const system of ['now', day(400)]) {
        const { store, change } = await begun();
        store.onAnswer = async (asked) => asked === n && change();
        const rows = await all(factPages(store, { ...SPACE, system }));
        expect([ids(rows, ALICE), ids(rows, CAROL)]).toEqual([named('a', 10), named('c', 10)]);
        // The second answer of the store has all of his facts.
        expect(ids(rows, BOB)).toEqual(
          n === 1 ? [...named('b', 1_500).slice(1), 'other'] : named('b', 1_500),
        );
        expect(rows.map(({ subject }) => subject)).toEqual(
          [...rows.map(({ subject }) => subject)].sort(),
        );
      }
    },
  );

  test('repeats a partition that continues; without a time each row is read once', async () => {
    const { store } = await begun();
    expect(await all(factPages(store, { ...BOB, system: 'now' }))).toHaveLength(1_500);
    expect(store.asked.map(({ limit }) => limit)).toEqual([1_000, 2_000, expect.any(Number)]);
    store.asked = [];
    expect(await all(factPages(store, BOB))).toHaveLength(1_500);
    expect(store.asked.map(({ after }) => after?.fact_id)).toEqual([undefined, 'b999']);
  });

  test('is read in one request if no more is wanted', async () => {
    const { store } = await begun();
    for (const most of [1, 1_500, 1_501]) {
      store.asked = [];
      const rows = await all(factPages(store, { ...BOB, system: 'now' }, { most }));
      expect([rows.length, store.asked.length]).toEqual([Math.min(1_500, most), 1]);
    }
  });
});

/** That number of rows, in one partition or in one each. */
async function limitsOf(count: number, of: 'one' | 'many'): Promise<(number | undefined)[]> {
  const rows = Array.from({ length: count }, (_, n) => {
    const subject = of === 'one' ? 'bob' : `bob ${n}`;
    return { fact_id: `${n}`, object: '', subject, predicate: 'takes' } as FactVersion;
  });
  const limits: (number | undefined)[] = [];
  const facts = async ({ after, limit }: FactQuery): Promise<FactVersion[]> => {
    limits.push(limit);
    const from = after === undefined ? 0 : Number(after.fact_id) + 1;
    return rows.slice(from, from + limit!);
  };
  const read = await all(factPages({ facts } as FactReads, SPACE));
  expect(read.map(({ fact_id }) => Number(fact_id))).toEqual(rows.map((_, n) => n));
  return limits;
}

test('a long history that a store scans for each page has few pages', async () => {
  expect(await limitsOf(200_000, 'one')).toEqual([
    1_000, 8_000, 16_000, 32_000, 64_000, 64_000, 64_000,
  ]);
  expect(await limitsOf(20_000, 'many')).toEqual([1_000, 8_000, 8_000, 8_000]);
});

test('a multi-page recall of a single-valued predicate has one fact at a time', async () => {
  const store = new Busy();
  const assize = runtimeOver(store, [clinic]);
  const trajectory = await assize.create(clinic, { trajectoryId: 't', writs: [writ] });
  const memory = trajectory.memory({ space: 'ward', writ });
  const said = (n: number) => ({ subject: 'p7', predicate: 'drug', object: `drug ${n}` });
  const facts = Array.from({ length: 1_200 }, (_, n) => ({
    ...said(n),
    valid: { from: day(n + 1), to: day(n + 2) },
  }));
  for (let n = 0; n < facts.length; n += 300)
    expect(await memory.assertMany(facts.slice(n, n + 300))).toMatchObject({ ruling: 'committed' });
  const branch = await assize.branch('t', trajectory.head, {
    trajectoryId: 'b',
    note: 'b',
    writs: [writ],
  });
  const tried = branch.memory({ space: 'ward', writ });
  expect(
    await tried.assert({ ...said(2_000), valid: { from: day(2_000), to: day(2_001) } }),
  ).toMatchObject({
    ruling: 'committed',
  });
  const relation = {
    to: { from: day(1_990), to: OPEN_END },
    is: ['before', 'during', 'overlaps'],
  } as const;
  for (const [view, more] of [
    [memory, { limit: 10_000 }],
    [memory, { limit: 10_000, relation }],
    [tried, { limit: 10_000 }],
  ] as const) {
    let isChanged = false;
    store.onAnswer = async () => {
      // Only reads of facts must meet the change.
      if (isChanged) return;
      isChanged = true;
      await view.correct({ ...said(3_000), valid: { from: day(1), to: day(2) } });
    };
    const recalled = (
      await view.recall({ subject: 'p7', predicate: 'drug', valid: 'any', ...more })
    ).facts;
    store.onAnswer = async () => undefined;
    expect(isChanged).toBe(true);
    const begins = recalled.map(({ valid_from }) => valid_from);
    expect(begins).toHaveLength(new Set(begins).size);
    expect(begins.length).toBeGreaterThanOrEqual(1_200);
  }
});
