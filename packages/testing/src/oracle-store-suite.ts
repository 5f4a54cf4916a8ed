import type { OracleRow, OracleStore } from 'assize/internal/oracle';
import { expect } from 'vitest';
import { answerErasingLaws, answerListLaws } from './laws/answer-erasing.ts';
import { AWKWARD_TEXTS, JSON_TEXTS, longText } from './laws/texts.ts';
import { type Bench, type Closable, runSuite, type StoreSuite } from './suite.ts';

export type OracleStoreSuite = StoreSuite<OracleStore & Closable>;

/**
 * The rules of every oracle store: one permanent answer per key, for all callers, exactly as it was
 * given. Call it in a test file of the store.
 */
export function oracleStoreSuite(suite: OracleStoreSuite): void {
  runSuite('oracle', suite, ORACLE_LAWS);
}

export const ORACLE_LAWS: readonly ((bench: Bench<OracleStore & Closable>) => void)[] = [
  answerLaws,
  closingLaws,
  answerErasingLaws,
  answerListLaws,
];

const KEY = 'a'.repeat(64);

function keyOf(n: number): string {
  return n.toString(16).padStart(64, '0');
}

function answerLaws({ law, openNew }: Bench<OracleStore & Closable>): void {
  law('an empty store has no answer', async () => {
    expect(await (await openNew()).oracleGet(KEY)).toBeUndefined();
  });

  law('the first answer of the oracle stays', async () => {
    const store = await openNew();
    const first: OracleRow = {
      key: KEY,
      answer: '{"said":"yes"}',
      at: '2026-03-23T09:00:00.000000Z',
    };
    expect(await store.oraclePut(first)).toEqual(first);
    expect(await store.oraclePut({ ...first, answer: '"no"', at: 'later' })).toEqual(first);
    expect(await store.oracleGet(KEY)).toEqual(first);
    expect(await store.oracleGet('b'.repeat(64))).toBeUndefined();
  });

  law('50 concurrent answers to one question all get the same answer', async () => {
    const store = await openNew();
    const rows = Array.from({ length: 50 }, (_, n) => ({ key: KEY, answer: `${n}`, at: `${n}` }));
    const kept = await Promise.all(rows.map((row) => store.oraclePut(row)));
    const inStore = await store.oracleGet(KEY);
    expect(rows).toContainEqual(inStore);
    for (const row of kept) expect(row).toEqual(inStore);
  });

  law('each of 100 concurrent questions gets its own answer', async () => {
    const store = await openNew();
    const rows = Array.from({ length: 100 }, (_, n) => ({
      key: keyOf(n),
      answer: `${n}`,
      at: 'now',
    }));
    expect(await Promise.all(rows.map((row) => store.oraclePut(row)))).toEqual(rows);
    expect(await Promise.all(rows.map(({ key }) => store.oracleGet(key)))).toEqual(rows);
  });

  law('answers come back exactly as given', async () => {
    const store = await openNew();
    for (const [n, text] of [...AWKWARD_TEXTS, ...JSON_TEXTS].entries()) {
      const row = { key: keyOf(n), answer: text, at: text };
      expect(await store.oraclePut(row)).toEqual(row);
      expect(await store.oracleGet(row.key)).toEqual(row);
    }
    const large = { key: KEY, answer: longText(3 * 2 ** 20), at: 'now' };
    expect((await store.oraclePut(large)).answer === large.answer).toBe(true);
    expect((await store.oracleGet(KEY))!.answer === large.answer).toBe(true);
  });

  law('a later mutation of a passed or returned row changes no stored row', async () => {
    const store = await openNew();
    const row = { key: KEY, answer: '1', at: 'now' };
    const given = { ...row };
    const put = await store.oraclePut(row);
    row.answer = 'other';
    Reflect.set(put, 'answer', 'other');
    Reflect.set((await store.oracleGet(KEY))!, 'answer', 'other');
    expect(await store.oracleGet(KEY)).toEqual(given);
  });

  law('a value that no row can hold is refused, and nothing is written', async () => {
    const store = await openNew();
    const row = { key: KEY, answer: '1', at: 'now' };
    const calls: readonly (() => Promise<unknown>)[] = [
      () => store.oracleGet('abc'),
      () => store.oracleGet(KEY.toUpperCase()),
      () => store.oraclePut({ ...row, key: 'abc' }),
      () => store.oraclePut({ ...row, answer: '\ud800' }),
      () => store.oraclePut({ ...row, answer: 'a\0b' }),
      () => store.oraclePut({ ...row, answer: 1 as never }),
      () => store.oraclePut({ ...row, at: '\udfff' }),
    ];
    for (const call of calls)
      await expect(call()).rejects.toMatchObject({ code: 'store_invalid_input' });
    expect(await store.oracleGet(KEY)).toBeUndefined();
  });
}

function closingLaws({ law, newPlace, openAt, openNew }: Bench<OracleStore & Closable>): void {
  law('close waits for the answers that are queued', async () => {
    const store = await openNew();
    const waiting = Array.from({ length: 20 }, (_, n) =>
      store.oraclePut({ key: keyOf(n), answer: '1', at: 'now' }),
    );
    await Promise.all([store.close(), store.close()]);
    for (const row of await Promise.all(waiting)) expect(row).toMatchObject({ answer: '1' });
  });

  law('a store opened again has the answers that close still recorded', async () => {
    const place = newPlace();
    const store = await openAt(place);
    const rows = Array.from({ length: 20 }, (_, n) => ({
      key: keyOf(n),
      answer: `${n}`,
      at: 'now',
    }));
    const waiting = rows.map((row) => store.oraclePut(row));
    await store.close();
    expect(await Promise.all(waiting)).toEqual(rows);
    const again = await openAt(place);
    for (const row of rows) expect(await again.oracleGet(row.key)).toEqual(row);
  });

  law('a closed store refuses questions and answers', async () => {
    const store = await openNew();
    const closing = store.close();
    for (let round = 0; round < 2; round += 1) {
      await expect(store.oracleGet(KEY)).rejects.toMatchObject({ code: 'store_closed' });
      const put = store.oraclePut({ key: KEY, answer: '1', at: 'now' });
      await expect(put).rejects.toMatchObject({ code: 'store_closed' });
      await closing;
    }
  });

  law('a store opened again has the first answers', async () => {
    const place = newPlace();
    const rows = Array.from({ length: 3 }, (_, n) => ({
      key: keyOf(n),
      answer: `${n}`,
      at: 'now',
    }));
    for (const row of rows) {
      const store = await openAt(place);
      expect(await store.oraclePut(row)).toEqual(row);
      await store.close();
    }
    const store = await openAt(place);
    for (const row of rows) {
      expect(await store.oracleGet(row.key)).toEqual(row);
      expect(await store.oraclePut({ ...row, answer: 'other' })).toEqual(row);
    }
  });

  law('two handles that answer one question concurrently get the same answer', async () => {
    const place = newPlace();
    const stores = [await openAt(place), await openAt(place)];
    for (let n = 0; n < 20; n += 1) {
      const puts = stores.map((store, who) =>
        store.oraclePut({ key: keyOf(n), answer: `${who}`, at: 'now' }),
      );
      const [one, other] = await Promise.all(puts);
      expect(one).toEqual(other);
      for (const store of stores) expect(await store.oracleGet(keyOf(n))).toEqual(one);
    }
  });
}
