import type { EntryRow } from 'assize/internal/ledger';
import { expect } from 'vitest';
import { keyOf, loggedOf, transactionOf, writeOf } from '../effect-rows.ts';
import { batchOf, blobOf, chainOf, entryAfter } from '../store-rows.ts';
import type { Bench } from '../suite.ts';
import type { EffectLedger } from '../suite-types.ts';
import { COMMITTED, conflictAt } from './answers.ts';

/** Effects are written together with their entries, or neither is written. */
export function effectBatchLaws({ law, openNew }: Bench<EffectLedger>): void {
  law('effects are written with their batch', async () => {
    const store = await openNew();
    const { fence } = await store.leaseEffects();
    const rows = chainOf('t', 3) as [EntryRow, EntryRow, EntryRow];
    const blob = blobOf('blob');
    const batches = rows.map((row, n) => ({
      ...batchOf(row, [blob]),
      effects: writeOf(fence, n + 1),
    }));
    const answers = await Promise.all(batches.map((batch) => store.commit(batch)));
    expect(answers).toEqual([COMMITTED, COMMITTED, COMMITTED]);
    expect(await store.entries('t')).toEqual(rows);
    expect(await store.openEffects()).toEqual([loggedOf(1), loggedOf(2), loggedOf(3)]);
    const erasing = {
      ...batchOf([]),
      erased: [{ hash: blob.hash, by: rows[0].id }],
      effects: { fence, ended: [1, 3] },
    };
    expect(await store.commit(erasing)).toEqual(COMMITTED);
    expect(await store.openEffects()).toEqual([loggedOf(2)]);
    expect(await store.erasedBy(blob.hash)).toBe(rows[0].id);
  });

  law('a batch that is a conflict writes nothing of its effects', async () => {
    const store = await openNew();
    const { fence } = await store.leaseEffects();
    const [first, second] = chainOf('t', 2) as [EntryRow, EntryRow];
    await store.commit(batchOf([first, second]));
    const rival = entryAfter(first, 't', 'rival');
    expect(await store.commit({ ...batchOf(rival), effects: writeOf(fence, 1) })).toEqual(
      conflictAt(rival),
    );
    // An id that is in another trajectory. Some stores detect this only during the write.
    const copy = { ...entryAfter(undefined, 'u'), id: first.id };
    const both = { ...batchOf([entryAfter(undefined, 'v'), copy]), effects: writeOf(fence, 1) };
    expect(await store.commit(both)).toEqual(conflictAt(copy));
    expect(await store.effectsOf(1)).toBeUndefined();
    expect(await store.effectKey(keyOf(1).key)).toBeUndefined();
    expect(await store.logEffects(writeOf(fence, 1, ['later']))).toEqual({ status: 'written' });
    expect(await store.openEffects()).toEqual([loggedOf(1, ['later'])]);
  });

  law('a batch with refused effects writes no entry and no blob', async () => {
    const store = await openNew();
    const { fence } = await store.leaseEffects();
    await store.logEffects(writeOf(fence, 1));
    const root = entryAfter(undefined, 't');
    const blob = blobOf('blob');
    const batch = batchOf(root, [blob]);
    const taken = { ...writeOf(fence, 2), keys: [keyOf(2, 0, '1/0')] };
    expect(await store.commit({ ...batch, effects: taken })).toEqual({
      status: 'taken',
      ...keyOf(1),
    });
    expect(await store.commit({ ...batch, effects: writeOf(fence + 1, 2) })).toEqual({
      status: 'fenced',
    });
    const gap = { fence, records: [{ epoch: 1, place: 4, record: 'gap' }] };
    await expect(store.commit({ ...batch, effects: gap })).rejects.toMatchObject({
      code: 'store_invalid_input',
    });
    expect(await store.trajectories()).toEqual([]);
    expect([await store.resolve(root.id), await store.blob(blob.hash)]).toEqual([
      undefined,
      undefined,
    ]);
    expect(await store.commit({ ...batch, effects: writeOf(fence, 2) })).toEqual(COMMITTED);
    expect(await store.head('t')).toEqual(root);
    expect(await store.blob(blob.hash)).toBe(blob.text);
  });

  law('a queued batch may build on effects and entries queued before it', async () => {
    const store = await openNew();
    const { fence } = await store.leaseEffects();
    const [first, second] = chainOf('t', 2) as [EntryRow, EntryRow];
    const answers = await Promise.all([
      store.commit({ ...batchOf(first), effects: writeOf(fence, 1) }),
      store.commit({
        ...batchOf(second),
        effects: { fence, records: [{ epoch: 1, place: 1, record: 'next' }], ended: [1] },
      }),
      store.logEffects({ fence, begun: [transactionOf(2)] }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(['committed', 'committed', 'written']);
    expect(await store.effectsOf(1)).toEqual(loggedOf(1, ['begun', 'next']));
    expect(await store.openEffects()).toEqual([loggedOf(2, [])]);
    expect(await store.entries('t')).toEqual([first, second]);
  });
}
