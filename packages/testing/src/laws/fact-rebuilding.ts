import type { FactWrite } from 'assize/internal/ledger';
import { expect } from 'vitest';
import { exportFacts } from '../fact-model.ts';
import { ALICE, changeOf, keyOfRow } from '../fact-rows.ts';
import { batchOf, blobOf, entryAfter } from '../store-rows.ts';
import type { Bench } from '../suite.ts';
import type { FactLedger } from '../suite-types.ts';
import { COMMITTED } from './answers.ts';

const BOB = { ...ALICE, subject: 'bob' };
const INCOMPLETE = { code: 'store_facts_incomplete' };
const { space } = ALICE;

/**
 * Facts can be rebuilt from their changes, and a partial rebuild is never taken for a complete one.
 */
export function factRebuildingLaws({ law, newPlace, openAt, openNew }: Bench<FactLedger>): void {
  law('rebuilt facts are the same, byte by byte', async () => {
    const store = await openNew();
    const changes = await believe(store);
    // A fact that no change contains; the rebuild must remove it.
    await store.commit({
      ...batchOf([]),
      facts: [changeOf({ ...ALICE, space: 'more' }, 1, 10, [{ fact_id: 'x' }])],
    });
    await store.commit({
      ...batchOf([]),
      erased: [{ hash: changes[0]!.insert[0]!.content.hash, by: blobOf('by').hash }],
    });
    const before = await exportFacts(store);
    for (const size of [1, 2, 100]) {
      await store.rebuildFacts(pagesOf(changes, size));
      expect(await exportFacts(store)).toEqual(before.slice(0, 1));
      expect(await store.partition(ALICE)).toMatchObject({ version: changes.length - 1 });
    }
    await store.rebuildFacts(pagesOf([], 1));
    expect(await store.spaces()).toEqual([]);
    await store.rebuildFacts(pagesOf(changes, 3));
    expect(await exportFacts(store)).toEqual(before.slice(0, 1));
    const next = changeOf(BOB, 2, 40, []);
    expect(await store.commit({ ...batchOf([]), facts: [next] })).toEqual(COMMITTED);
  });

  law('a rebuild blocks reads and writes of facts and nothing else', async () => {
    const store = await openNew();
    const changes = await believe(store);
    const before = await exportFacts(store);
    let looked = 0;
    async function* pages(): AsyncGenerator<readonly FactWrite[]> {
      for (const change of changes) {
        await expectIncomplete(store);
        looked += 1;
        yield [change];
      }
      await expectIncomplete(store);
      expect(await store.commit(batchOf(entryAfter(undefined, 't')))).toEqual(COMMITTED);
    }
    await store.rebuildFacts(pages());
    expect(looked).toBe(changes.length);
    expect(await exportFacts(store)).toEqual(before);
    expect((await store.head('t'))?.seq).toBe(0);
  });

  law('after a failed rebuild facts stay incomplete until a rebuild succeeds', async () => {
    const store = await openNew();
    const changes = await believe(store);
    const before = await exportFacts(store);
    const failing = async function* (): AsyncGenerator<readonly FactWrite[]> {
      yield changes.slice(0, 2);
      throw new Error('unplugged');
    };
    await expect(store.rebuildFacts(failing())).rejects.toThrow('unplugged');
    await expectIncomplete(store);
    // Invalid pages: out of order, with a gap, or without changes.
    for (const wrong of [
      changes.toReversed(),
      changes.slice(1),
      [...changes, changes.at(-1)!],
      [7],
      [{ ...changes[0]!, version: 0 }],
    ]) {
      await expect(store.rebuildFacts(pagesOf(wrong as FactWrite[], 2))).rejects.toMatchObject({
        code: 'store_invalid_input',
      });
      await expectIncomplete(store);
    }
    await store.rebuildFacts(pagesOf(changes, 2));
    expect(await exportFacts(store)).toEqual(before);
  });

  law('a rebuild without a list of pages is refused and changes nothing', async () => {
    const store = await openNew();
    await believe(store);
    for (const wrong of [undefined, null, 7, {}, []])
      await expect(store.rebuildFacts(wrong as never)).rejects.toMatchObject({
        code: 'store_invalid_input',
      });
    expect(await store.facts({ space })).toHaveLength(4);
  });

  law('of two concurrent rebuilds of facts, the one that began last succeeds', async () => {
    const store = await openNew();
    const changes = await believe(store);
    const before = await exportFacts(store);
    async function* pages(): AsyncGenerator<readonly FactWrite[]> {
      yield changes.slice(0, 2);
      await store.rebuildFacts(pagesOf(changes, 2));
      yield changes.slice(2);
    }
    await expect(store.rebuildFacts(pages())).rejects.toMatchObject(INCOMPLETE);
    expect(await exportFacts(store)).toEqual(before);
  });

  law('a store opened again knows that its facts are incomplete', async () => {
    const place = newPlace();
    const store = await openAt(place);
    const changes = await believe(store);
    const before = await exportFacts(store);
    const other = await openAt(place);
    async function* pages(): AsyncGenerator<readonly FactWrite[]> {
      yield changes.slice(0, 2);
      await expectIncomplete(other);
      await store.close();
      yield changes.slice(2);
    }
    await expect(store.rebuildFacts(pages())).rejects.toMatchObject({ code: 'store_closed' });
    const again = await openAt(place);
    for (const each of [other, again]) await expectIncomplete(each);
    await again.rebuildFacts(pagesOf(changes, 2));
    for (const each of [other, again]) expect(await exportFacts(each)).toEqual(before);
    // The same for awaited facts.
    expect(
      await again.commit({ ...batchOf(entryAfter(undefined, 't')), awaitsFacts: true }),
    ).toEqual(COMMITTED);
    await again.close();
    const last = await openAt(place);
    for (const each of [other, last]) await expectIncomplete(each);
    expect(await other.keepFacts()).toBe(true);
    for (const each of [other, last]) expect(await exportFacts(each)).toEqual(before);
  });

  law('entries without facts leave old facts kept but incomplete until rebuilt', async () => {
    const store = await openNew();
    const changes = await believe(store);
    const before = await exportFacts(store);
    const first = entryAfter(undefined, 't');
    expect(await store.commit(batchOf(first))).toEqual(COMMITTED);
    // A refused batch writes no facts.
    const refused = { ...batchOf(entryAfter(undefined, 't')), awaitsFacts: true };
    expect(await store.commit(refused)).toMatchObject({ status: 'conflict' });
    expect(await store.commit({ ...batchOf([]), awaitsFacts: true })).toEqual(COMMITTED);
    expect(await exportFacts(store)).toEqual(before);
    expect(await store.keepFacts()).toBe(true);
    const second = entryAfter(first, 't');
    expect(await store.commit({ ...batchOf(second), awaitsFacts: true })).toEqual(COMMITTED);
    await expectIncomplete(store);
    expect(await store.commit(batchOf(entryAfter(second, 't')))).toEqual(COMMITTED);
    for (let n = 0; n < 2; n += 1) expect(await store.keepFacts()).toBe(true);
    expect(await exportFacts(store)).toEqual(before);
    const next = changeOf(BOB, 2, 40, []);
    expect(await store.commit({ ...batchOf([]), facts: [next] })).toEqual(COMMITTED);
    expect(
      await store.commit({ ...batchOf(entryAfter(undefined, 'u')), awaitsFacts: true }),
    ).toEqual(COMMITTED);
    await store.rebuildFacts(pagesOf(changes, 2));
    expect(await exportFacts(store)).toEqual(before);
  });

  law('entries that arrive during a rebuild leave its facts incomplete but kept', async () => {
    const store = await openNew();
    const changes = await believe(store);
    const before = await exportFacts(store);
    const came = async (trajectoryId: string): Promise<void> =>
      expect(
        await store.commit({ ...batchOf(entryAfter(undefined, trajectoryId)), awaitsFacts: true }),
      ).toEqual(COMMITTED);
    await came('before');
    async function* pages(): AsyncGenerator<readonly FactWrite[]> {
      yield changes.slice(0, 2);
      await came('meanwhile');
      expect(await store.keepFacts()).toBe(false);
      yield changes.slice(2);
    }
    await store.rebuildFacts(pages());
    await expectIncomplete(store);
    expect(await store.keepFacts()).toBe(true);
    expect(await exportFacts(store)).toEqual(before);
    // Interrupted before all changes.
    const failing = async function* (): AsyncGenerator<readonly FactWrite[]> {
      yield changes.slice(0, 2);
      throw new Error('unplugged');
    };
    await expect(store.rebuildFacts(failing())).rejects.toThrow('unplugged');
    await came('after');
    expect(await store.keepFacts()).toBe(false);
    await expectIncomplete(store);
    await store.rebuildFacts(pagesOf(changes, 2));
    expect(await exportFacts(store)).toEqual(before);
  });

  law('a store that has no facts keeps none', async () => {
    const store = await openNew();
    expect(await store.keepFacts()).toBe(true);
    expect(
      await store.commit({ ...batchOf(entryAfter(undefined, 't')), awaitsFacts: true }),
    ).toEqual(COMMITTED);
    expect(await store.keepFacts()).toBe(false);
    await expectIncomplete(store);
    await store.rebuildFacts(pagesOf([], 1));
    expect(await store.spaces()).toEqual([]);
  });
}

async function expectIncomplete(store: FactLedger): Promise<void> {
  for (const call of [
    () => store.partition(ALICE),
    () => store.facts({ space }),
    () => store.facts({ ...ALICE, valid: ALICE_DAY, system: 'now', limit: 1 }),
    () => store.spaces(),
    () => store.commit({ ...batchOf([]), facts: [changeOf(BOB, 1, 10, [])] }),
  ])
    await expect(call()).rejects.toMatchObject({
      ...INCOMPLETE,
      message: expect.stringContaining('assize memory rebuild'),
    });
}

const ALICE_DAY = '2026-01-01T00:00:00.000000Z';

/** Three changes of alice and one of bob, in that order. */
async function believe(store: FactLedger): Promise<FactWrite[]> {
  const changes: FactWrite[] = [];
  for (let n = 0; n < 3; n += 1) {
    const close = changes.at(-1)?.insert.slice(0, 1).map(keyOfRow) ?? [];
    const said = [
      { fact_id: `${n}` },
      { fact_id: `${n} audit`, row_kind: 'audit' as const, resolution_id: 'r' },
    ];
    changes.push(changeOf(ALICE, n + 1, 10 + n, said, close));
  }
  changes.push(changeOf(BOB, 1, 10, [{ fact_id: 'bob' }]));
  for (const facts of changes)
    expect(await store.commit({ ...batchOf([]), facts: [facts] })).toEqual(COMMITTED);
  return changes;
}

async function* pagesOf(
  changes: readonly FactWrite[],
  size: number,
): AsyncGenerator<readonly FactWrite[]> {
  for (let at = 0; at < changes.length; at += size) yield changes.slice(at, at + size);
}
