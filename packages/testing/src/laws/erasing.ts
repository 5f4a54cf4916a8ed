import type { Batch, BlobRow, EntryRow, LedgerStore } from 'assize/internal/ledger';
import { expect } from 'vitest';
import { batchOf, blobOf, chainOf, entryAfter } from '../store-rows.ts';
import type { Bench } from '../suite.ts';
import { COMMITTED, conflictAt } from './answers.ts';

/** Blobs are erased together with an entry or not at all, and permanently. */
export function erasingLaws({ law, newPlace, openAt, openNew }: Bench<LedgerStore>): void {
  law('an erased blob is gone, and the entry that erased it is named', async () => {
    const store = await openNew();
    await expectErased(store, await eraseSome(store));
  });

  law('a store opened again knows which blobs were erased', async () => {
    const place = newPlace();
    const store = await openAt(place);
    const some = await eraseSome(store);
    await store.close();
    const after = await openAt(place);
    await expectErased(after, some);
    await after.close();
  });

  law('a blob that was erased is never taken in again', async () => {
    const store = await openNew();
    const [first, second, third] = chainOf('t', 3) as [EntryRow, EntryRow, EntryRow];
    const [there, never] = [blobOf('there'), blobOf('never')];
    await store.commit(batchOf(first, [there]));
    await store.commit(erasing(second, [there, never]));
    expect(await store.commit(batchOf(third, [there, never]))).toEqual(COMMITTED);
    expect(await store.commit(batchOf([], [there, never]))).toEqual(COMMITTED);
    for (const { hash } of [there, never]) {
      expect(await store.blob(hash)).toBeUndefined();
      expect(await store.erasedBy(hash)).toBe(second.id);
    }
  });

  law('the first to erase a blob is named', async () => {
    const store = await openNew();
    const rows = chainOf('t', 3) as [EntryRow, EntryRow, EntryRow];
    const blob = blobOf('blob');
    for (const batch of [
      batchOf(rows[0], [blob]),
      erasing(rows[1], [blob, blob]),
      erasing(rows[2], [blob]),
    ])
      expect(await store.commit(batch)).toEqual(COMMITTED);
    expect(await store.erasedBy(blob.hash)).toBe(rows[1].id);
  });

  law('a conflict erases nothing', async () => {
    const store = await openNew();
    const [first, second] = chainOf('t', 2) as [EntryRow, EntryRow];
    const blob = blobOf('blob');
    await store.commit(batchOf([first, second], [blob]));
    const rival = entryAfter(first, 't', 'rival');
    expect(await store.commit(erasing(rival, [blob]))).toEqual(conflictAt(rival));
    expect(await store.blob(blob.hash)).toBe(blob.text);
    expect(await store.erasedBy(blob.hash)).toBeUndefined();
  });
}

function erasing(row: EntryRow, blobs: readonly BlobRow[]): Batch {
  return { ...batchOf(row), erased: blobs.map(({ hash }) => ({ hash, by: row.id })) };
}

interface Some {
  readonly rows: readonly [EntryRow, EntryRow];
  readonly kept: BlobRow;
  readonly gone: readonly BlobRow[];
}

/** Erases one present blob and one missing blob. */
async function eraseSome(store: LedgerStore): Promise<Some> {
  const rows = chainOf('t', 2) as [EntryRow, EntryRow];
  const [there, kept, unseen] = [blobOf('there'), blobOf('kept'), blobOf('unseen')];
  await store.commit(batchOf(rows[0], [there, kept]));
  expect(await store.commit(erasing(rows[1], [there, unseen]))).toEqual(COMMITTED);
  return { rows, kept, gone: [there, unseen] };
}

async function expectErased(store: LedgerStore, { rows, kept, gone }: Some): Promise<void> {
  for (const { hash } of gone) {
    expect(await store.blob(hash)).toBeUndefined();
    expect(await store.erasedBy(hash)).toBe(rows[1].id);
  }
  expect(await store.blob(kept.hash)).toBe(kept.text);
  expect(await store.erasedBy(kept.hash)).toBeUndefined();
  expect(await store.entries('t')).toEqual(rows);
}
