import type { EntryRow, LedgerStore } from 'assize/internal/ledger';
import { expect } from 'vitest';
import { batchOf, blobOf, entryAfter } from '../store-rows.ts';
import type { Bench } from '../suite.ts';
import { COMMITTED } from './answers.ts';

/**
 * Arguments that no row can hold exactly are `store_invalid_input`, and the store writes no row.
 */
export function refusalLaws({ law, openNew }: Bench<LedgerStore>): void {
  law('a value that no row can hold is refused, and nothing is written', async () => {
    const store = await openNew();
    const row = entryAfter(undefined, 't');
    const blob = blobOf('blob');
    const wrongRows: readonly object[] = [
      { id: '' },
      { id: row.id.slice(1) },
      { id: `${row.id}00` },
      { id: `${row.id.slice(2)}zz` },
      { id: row.id.replace(/[0-9]/, 'A') },
      { id: `${'\u0661'.repeat(2)}${row.id.slice(2)}` },
      { id: 7 },
      { seq: -1 },
      { seq: 0.5 },
      { seq: Number.NaN },
      { seq: 2 ** 53 },
      { seq: '1' },
      { kind: 'rumour' },
      { kind: 'toString' },
      { trajectory_id: '\ud800' },
      { trajectory_id: 'a\0b' },
      { trajectory_id: undefined },
      { payload: 'half a pair \udfff' },
      { payload: 'a\0b' },
      { payload: null },
      { payload: { kind: 'commit' } },
    ];
    for (const wrong of wrongRows) {
      const batch = batchOf([row, { ...entryAfter(row, 't'), ...wrong } as EntryRow], [blob]);
      await expect(store.commit(batch), JSON.stringify(wrong)).rejects.toMatchObject({
        code: 'store_invalid_input',
      });
    }
    for (const wrong of [
      { hash: 'x' },
      { hash: blob.hash.toUpperCase() },
      { text: '\ud800' },
      { text: 'a\0b' },
      { text: 1 },
    ]) {
      const batch = batchOf(row, [{ ...blob, ...wrong } as typeof blob]);
      await expect(store.commit(batch), JSON.stringify(wrong)).rejects.toMatchObject({
        code: 'store_invalid_input',
      });
    }
    const calls: readonly (() => Promise<unknown>)[] = [
      () => store.resolve('abc'),
      () => store.resolve(row.id.toUpperCase()),
      () => store.blob(''),
      () => store.erasedBy(''),
      () => store.commit({ ...batchOf([]), erased: [{ hash: blob.hash, by: '' }] }),
      () => store.commit({ ...batchOf([]), erasedAnswers: [{ key: blob.hash, by: '' }] }),
      () => store.head('\ud800'),
      () => store.entries('a\0b'),
      () => store.entries('t', { from: -1 }),
      () => store.entries('t', { from: 0.5 }),
      () => store.entries('t', { limit: 0 }),
      () => store.entries('t', { limit: 1.5 }),
      () => store.entries('t', { limit: Number.POSITIVE_INFINITY }),
    ];
    for (const call of calls)
      await expect(call()).rejects.toMatchObject({ code: 'store_invalid_input' });
    expect(await store.trajectories()).toEqual([]);
    expect(await store.blob(blob.hash)).toBeUndefined();
  });

  law('a refused batch does not disturb batches that are queued with it', async () => {
    const store = await openNew();
    const root = entryAfter(undefined, 't');
    const next = entryAfter(root, 't');
    const answers = await Promise.allSettled([
      store.commit(batchOf(root)),
      store.commit(batchOf({ ...next, payload: '\ud800' })),
      store.commit(batchOf(next)),
    ]);
    expect(answers).toMatchObject([
      { status: 'fulfilled', value: COMMITTED },
      { status: 'rejected', reason: { code: 'store_invalid_input' } },
      { status: 'fulfilled', value: COMMITTED },
    ]);
    expect(await store.entries('t')).toEqual([root, next]);
  });
}
