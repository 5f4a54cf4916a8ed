import type { EntryRow, LedgerStore } from 'assize/internal/ledger';
import { expect } from 'vitest';
import { batchOf, blobOf, entryAfter } from '../store-rows.ts';
import type { Bench } from '../suite.ts';
import { COMMITTED } from './answers.ts';
import { AWKWARD_TEXTS, JSON_TEXTS, LOOKALIKES, longText } from './texts.ts';

const MIB = 2 ** 20;

/** Rows are returned exactly as they were given, byte for byte. */
export function rowLaws({ law, openNew }: Bench<LedgerStore>): void {
  law('rows come back exactly as given', async () => {
    const store = await openNew();
    for (const text of AWKWARD_TEXTS) await expectKept(store, text, text);
    expect((await store.trajectories()).map((info) => info.trajectory_id)).toEqual(AWKWARD_TEXTS);
  });

  law('JSON text is kept and not read', async () => {
    const store = await openNew();
    for (const [n, text] of JSON_TEXTS.entries()) await expectKept(store, `t${n}`, text);
  });

  law('texts that look alike are kept apart', async () => {
    const store = await openNew();
    const rows = LOOKALIKES.map((name) => entryAfter(undefined, name));
    const blobs = LOOKALIKES.map(blobOf);
    expect(await store.commit(batchOf(rows, blobs))).toEqual(COMMITTED);
    expect((await store.trajectories()).map((info) => info.trajectory_id)).toEqual(LOOKALIKES);
    for (const row of rows) expect(await store.entries(row.trajectory_id)).toEqual([row]);
    for (const { hash, text } of blobs) expect(await store.blob(hash)).toBe(text);
  });

  law('a trajectory may have a name of 500 characters', async () => {
    const store = await openNew();
    for (const name of [longText(500), 'x'.repeat(500), '\u{1f600}'.repeat(250)])
      await expectKept(store, name, '{}');
  });

  law('a payload of 1 MiB and a blob of 3 MB come back exactly as given', async () => {
    const store = await openNew();
    for (const [n, make] of [longText, (length: number) => 'x'.repeat(length)].entries()) {
      const row = { ...entryAfter(undefined, `t${n}`), payload: make(MIB) };
      const blob = { ...blobOf(`${n}`), text: make(3 * MIB) };
      expect(await store.commit(batchOf(row, [blob]))).toEqual(COMMITTED);
      // Compared by `===`: a printed diff of such strings would take minutes.
      expect((await store.head(row.trajectory_id))!.payload === row.payload).toBe(true);
      expect((await store.blob(blob.hash)) === blob.text).toBe(true);
    }
  });

  law('a later mutation of passed or returned rows changes no stored row', async () => {
    const store = await openNew();
    const row = { ...entryAfter(undefined, 't') };
    const blob = { ...blobOf('blob') };
    const given = { ...row };
    const batch = { entries: [row], blobs: [blob] };
    expect(await store.commit(batch)).toEqual(COMMITTED);
    Object.assign(row, { seq: 7, payload: 'other' });
    Object.assign(blob, { text: 'other' });
    batch.entries.length = 0;
    for (let round = 0; round < 2; round += 1) {
      const got = [
        await store.head('t'),
        await store.resolve(given.id),
        ...(await store.entries('t')),
      ];
      expect(got).toEqual([given, given, given]);
      const listed = await store.trajectories();
      expect(listed).toEqual([{ trajectory_id: 't', entries: 1, head: given.id }]);
      expect(await store.blob(blob.hash)).toBe('blob');
      // A row may be frozen. If not, this changes only the caller's copy.
      for (const mine of got) Reflect.set(mine!, 'payload', 'other');
      for (const mine of listed) Reflect.set(mine, 'entries', 9);
    }
  });
}

async function expectKept(store: LedgerStore, name: string, text: string): Promise<void> {
  const row: EntryRow = { ...entryAfter(undefined, name, text), payload: text };
  const blob = { ...blobOf(text), text };
  expect(await store.commit(batchOf(row, [blob]))).toEqual(COMMITTED);
  expect(await store.head(name)).toEqual(row);
  expect(await store.entries(name)).toEqual([row]);
  expect(await store.resolve(row.id)).toEqual(row);
  expect(await store.find(row.id)).toEqual([row]);
  expect(await store.blob(blob.hash)).toBe(text);
}
