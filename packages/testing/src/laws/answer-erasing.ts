import type { EntryRow, LedgerStore } from 'assize/internal/ledger';
import type { OracleRow, OracleStore } from 'assize/internal/oracle';
import { expect } from 'vitest';
import { batchOf, blobOf, chainOf } from '../store-rows.ts';
import type { Bench, Closable } from '../suite.ts';

const AT = '2026-03-23T09:00:00.000000Z';
const [THERE, KEPT, NEVER] = ['there', 'kept', 'never'].map((name) => blobOf(name).hash) as [
  string,
  string,
  string,
];
const BY = blobOf('an entry').hash;

/**
 * Answers are erased together with an entry or not at all, and permanently. A store without entries
 * declares a skip for each.
 */
export function answerErasingLaws({
  law,
  newPlace,
  openAt,
  openNew,
}: Bench<OracleStore & Closable>): void {
  law('an erased answer is gone, and the entry that erased it is named', async () => {
    await expectErased(await erased(await openNew()));
  });

  law('an answer that was erased is never taken in again', async () => {
    const store = await erased(await openNew());
    const puts = [THERE, NEVER].flatMap((key) => [answer(key), { key, answer: '', at: AT }]);
    const given = await Promise.all(puts.map((row) => store.oraclePut(row)));
    expect(given.map(({ answer, erased_by }) => [answer, erased_by])).toEqual(
      puts.map(() => ['', BY]),
    );
    await expectErased(store);
  });

  law('the first to erase an answer is named', async () => {
    const store = await erased(await openNew());
    const by = blobOf('another entry').hash;
    const again = [
      { key: THERE, by },
      { key: KEPT, by: BY },
      { key: KEPT, by },
    ];
    expect(await store.commit({ ...batchOf([]), erasedAnswers: again })).toEqual({
      status: 'committed',
    });
    for (const key of [THERE, KEPT])
      expect(await store.oracleGet(key)).toEqual({ ...gone(key), at: AT });
  });

  law('a store opened again knows which answers were erased', async () => {
    const place = newPlace();
    await (await erased(await openAt(place))).close();
    const again = requireLedger(await openAt(place));
    await expectErased(again);
    expect(await again.oraclePut(answer(THERE))).toEqual({ ...gone(THERE), at: AT });
  });

  law('a conflict erases no answer', async () => {
    const store = requireLedger(await openNew());
    const [first, second] = chainOf('t', 2) as [EntryRow, EntryRow];
    await store.commit(batchOf(first));
    await store.oraclePut(answer(THERE));
    const other = { ...second, seq: 3 };
    const batch = { ...batchOf(other), erasedAnswers: [{ key: THERE, by: other.id }] };
    expect(await store.commit(batch)).toMatchObject({ status: 'conflict' });
    expect(await store.oracleGet(THERE)).toEqual(answer(THERE));
  });

  law('an answer is erased with blobs and entries of its batch', async () => {
    const store = requireLedger(await openNew());
    const [first, second] = chainOf('t', 2) as [EntryRow, EntryRow];
    const blob = blobOf('beside it');
    await store.commit(batchOf(first, [blob]));
    await store.oraclePut(answer(THERE));
    const by = second.id;
    const batch = {
      ...batchOf(second),
      erased: [{ hash: blob.hash, by }],
      erasedAnswers: [{ key: THERE, by }],
    };
    const [written, put] = await Promise.all([store.commit(batch), store.oraclePut(answer(KEPT))]);
    expect([written, put]).toEqual([{ status: 'committed' }, answer(KEPT)]);
    expect(await store.erasedBy(blob.hash)).toBe(by);
    expect(await store.oracleGet(THERE)).toEqual({ ...gone(THERE), at: AT, erased_by: by });
    expect(await store.head('t')).toEqual(second);
  });
}

/** Answers are listed by their key until they are erased. A store without a list declares skips. */
export function answerListLaws({
  law,
  newPlace,
  openAt,
  openNew,
}: Bench<OracleStore & Closable>): void {
  const within = blobOf('a trajectory').hash;
  const keys = Array.from({ length: 7 }, (_, n) => blobOf(`question ${n}`).hash).sort();
  const filled = async (store: OracleStore & Closable): Promise<OracleStore & Closable> => {
    for (const key of keys) await store.oraclePut(answer(key), within);
    await store.oraclePut(answer(THERE));
    await store.oraclePut(answer(KEPT), blobOf('another trajectory').hash);
    return store;
  };
  const keysOf = async (
    store: OracleStore,
    page: { after?: string; limit: number },
  ): Promise<string[]> => {
    const rows = (await store.oracleWithin?.(within, page)) ?? [];
    expect(rows).toEqual(rows.map(({ key }) => answer(key)));
    return rows.map(({ key }) => key);
  };

  law('answers are listed by the `within` key they were put with, in pages', async () => {
    const store = await filled(await openNew());
    expect(await keysOf(store, { limit: 100 })).toEqual(keys);
    expect(await keysOf(store, { limit: 3 })).toEqual(keys.slice(0, 3));
    expect(await keysOf(store, { after: keys[2] as string, limit: 3 })).toEqual(keys.slice(3, 6));
    expect(await store.oracleWithin?.(THERE, { limit: 3 })).toEqual([]);
    await store.oraclePut(answer(THERE), within);
    expect(await keysOf(store, { limit: 100 })).toEqual([...keys, THERE].sort());
  });

  law('an erased answer is no longer listed, also in a store opened again', async () => {
    const place = newPlace();
    const store = requireLedger(await filled(await openAt(place)));
    const [gone, ...others] = keys as [string, ...string[]];
    await store.commit({ ...batchOf([]), erasedAnswers: [{ key: gone, by: BY }] });
    expect(await keysOf(store, { limit: 100 })).toEqual(others);
    await store.oraclePut(answer(gone), within);
    await store.close();
    expect(await keysOf(await openAt(place), { limit: 100 })).toEqual(others);
  });

  law('answers that were erased are listed by themselves, in pages', async () => {
    const store = requireLedger(await filled(await openNew()));
    if (store.oracleErased === undefined) return;
    expect(await store.oracleErased({ limit: 3 })).toEqual([]);
    const erased = [...keys.slice(1, 4), NEVER].sort();
    await store.commit({ ...batchOf([]), erasedAnswers: erased.map((key) => ({ key, by: BY })) });
    const rows = erased.map((key) => ({ ...gone(key), at: key === NEVER ? '' : AT }));
    expect(await store.oracleErased({ limit: 100 })).toEqual(rows);
    expect(await store.oracleErased({ limit: 2 })).toEqual(rows.slice(0, 2));
    expect(await store.oracleErased({ after: erased[1]!, limit: 2 })).toEqual(rows.slice(2));
  });
}

/** Erases one present answer and one missing answer; another answer stays. */
async function erased(given: OracleStore & Closable): Promise<OracleStore & LedgerStore> {
  const store = requireLedger(given);
  for (const key of [THERE, KEPT]) await store.oraclePut(answer(key));
  const erasedAnswers = [THERE, NEVER].map((key) => ({ key, by: BY }));
  expect(await store.commit({ ...batchOf([]), erasedAnswers })).toEqual({ status: 'committed' });
  return store;
}

async function expectErased(store: OracleStore): Promise<void> {
  expect(await store.oracleGet(THERE)).toEqual({ ...gone(THERE), at: AT });
  expect(await store.oracleGet(NEVER)).toEqual({ ...gone(NEVER), at: '' });
  expect(await store.oracleGet(KEPT)).toEqual(answer(KEPT));
}

function answer(key: string): OracleRow {
  return { key, answer: '{"said":"yes"}', at: AT };
}

function gone(key: string): OracleRow {
  return { key, answer: '', at: AT, erased_by: BY };
}

function requireLedger(store: OracleStore & Closable): OracleStore & LedgerStore {
  if ('commit' in store) return store as OracleStore & LedgerStore;
  throw new Error('answers are erased with entries: declare a skip where the store holds none');
}
