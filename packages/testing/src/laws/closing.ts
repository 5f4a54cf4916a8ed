import type { EntryRow, LedgerStore } from 'assize/internal/ledger';
import { expect } from 'vitest';
import { batchOf, blobOf, chainOf, entryAfter } from '../store-rows.ts';
import type { Bench } from '../suite.ts';
import { COMMITTED, conflictAt } from './answers.ts';

/** `close` answers waiting calls and loses no answered data; a reopened place has all of it. */
export function closingLaws({ law, newPlace, openAt, openNew }: Bench<LedgerStore>): void {
  law('close waits for queued batches, and may be called twice', async () => {
    const store = await openNew();
    const waiting = chainOf('t', 20).map((row) => store.commit(batchOf(row)));
    await Promise.all([store.close(), store.close()]);
    await store.close();
    expect(new Set((await Promise.all(waiting)).map(({ status }) => status))).toEqual(
      new Set(['committed']),
    );
  });

  law('a closed store refuses every call', async () => {
    const store = await openNew();
    const row = entryAfter(undefined, 't');
    const closing = store.close();
    const calls: readonly (() => Promise<unknown>)[] = [
      () => store.commit(batchOf(row)),
      () => store.commit(batchOf([])),
      () => store.resolve(row.id),
      () => store.entries('t'),
      () => store.head('t'),
      () => store.trajectories(),
      () => store.blob(row.id),
      () => store.erasedBy(row.id),
      () => store.find(row.id),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'store_closed' });
    await closing;
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'store_closed' });
  });

  law('a store opened again has all that was committed', async () => {
    const place = newPlace();
    const before = await openAt(place);
    const [z, a] = [chainOf('z', 3), chainOf('a', 2)];
    const blob = blobOf('blob');
    await Promise.all([before.commit(batchOf(z, [blob])), before.commit(batchOf(a))]);
    await before.close();
    const after = await openAt(place);
    expect((await after.trajectories()).map((info) => info.trajectory_id)).toEqual(['z', 'a']);
    expect(await after.entries('z')).toEqual(z);
    expect(await after.blob(blob.hash)).toBe('blob');
    const stale = entryAfter(z[1], 'z', 'stale');
    expect(await after.commit(batchOf(stale))).toEqual(conflictAt(stale));
    expect(await after.commit(batchOf(entryAfter(z[2], 'z')))).toEqual(COMMITTED);
  });

  law('a store opened again has exactly the queued batches that close committed', async () => {
    const place = newPlace();
    let head: EntryRow | undefined;
    for (let round = 0; round < 5; round += 1) {
      const before = await openAt(place);
      const rows = [0, 1, 2].map((note) => entryAfter(head, 't', [round, note]));
      const answers = rows.map((row) => before.commit(batchOf(row, [blobOf(row.id)])));
      await before.close();
      const results = await Promise.all(answers);
      const after = await openAt(place);
      for (const [n, row] of rows.entries()) {
        const committed = results[n]!.status === 'committed';
        expect(await after.resolve(row.id)).toEqual(committed ? row : undefined);
        expect(await after.blob(blobOf(row.id).hash)).toBe(committed ? row.id : undefined);
        if (committed) head = row;
      }
      expect(await after.head('t')).toEqual(head);
      expect(await after.entries('t')).toHaveLength(round + 1);
      await after.close();
    }
  });
}
