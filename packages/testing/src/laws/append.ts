import type { Batch, EntryRow, LedgerStore } from 'assize/internal/ledger';
import { expect } from 'vitest';
import { faultAt } from '../faults.ts';
import { faultyStore } from '../faulty-store.ts';
import { batchOf, blobOf, chainOf, entryAfter, entryAt } from '../store-rows.ts';
import type { Bench } from '../suite.ts';
import { COMMITTED, conflictAt, countOf } from './answers.ts';

/** Compare-and-set by position and by id, and the outcome of a commit that lost its answer. */
export function appendLaws({ law, newPlace, openAt, openNew }: Bench<LedgerStore>): void {
  law('an entry goes only after the head it names', async () => {
    const store = await openNew();
    const [first, second, third] = chainOf('t', 3) as [EntryRow, EntryRow, EntryRow];
    await store.commit(batchOf([first, second]));
    const wrong: readonly EntryRow[] = [
      entryAt('t', 0, null, 'another root'),
      entryAt('t', 1, first.id, 'a fork'),
      entryAt('t', 2, first.id, 'the wrong parent'),
      entryAt('t', 2, null, 'no parent'),
      entryAt('t', 3, third.id, 'a gap'),
      entryAt('t', 3, second.id, 'a gap under the head'),
      entryAt('new', 0, first.id, 'a root with a parent'),
      entryAt('new', 1, first.id, 'no root'),
      second,
    ];
    for (const row of wrong) expect(await store.commit(batchOf(row))).toEqual(conflictAt(row));
    expect(await store.entries('t')).toEqual([first, second]);
    expect(await store.trajectories()).toEqual([
      { trajectory_id: 't', entries: 2, head: second.id },
    ]);
    expect(await store.commit(batchOf(third))).toEqual(COMMITTED);
  });

  law('of 100 that append to one head, one is committed and 99 are conflicts', async () => {
    const store = await openNew();
    let head: EntryRow | undefined;
    for (let round = 0; round < 3; round += 1) {
      const rivals = Array.from({ length: 100 }, (_, note) => entryAfter(head, 't', note));
      const results = await Promise.all(rivals.map((row) => store.commit(batchOf(row))));
      expect(countOf(results, 'committed')).toBe(1);
      expect(countOf(results, 'conflict')).toBe(99);
      head = rivals[results.findIndex(({ status }) => status === 'committed')]!;
      expect(await store.head('t')).toEqual(head);
      for (const row of rivals)
        expect(await store.resolve(row.id)).toEqual(row === head ? row : undefined);
    }
    expect((await store.entries('t')).map((row) => row.seq)).toEqual([0, 1, 2]);
  });

  law('an id is in the store once, wherever it is', async () => {
    const store = await openNew();
    const [first, second] = chainOf('t', 2) as [EntryRow, EntryRow];
    await store.commit(batchOf([first, second]));
    const copy = { ...entryAfter(undefined, 'u'), id: second.id };
    const lost = blobOf('lost with its batch');
    const [before, after] = [entryAfter(undefined, 'before'), entryAfter(undefined, 'after')];
    const results = await Promise.all([
      store.commit(batchOf(before)),
      store.commit(batchOf([entryAfter(undefined, 'v'), copy], [lost])),
      store.commit(batchOf(after)),
    ]);
    expect(results).toEqual([COMMITTED, conflictAt(copy), COMMITTED]);
    expect((await store.trajectories()).map((info) => info.trajectory_id)).toEqual([
      't',
      'before',
      'after',
    ]);
    expect(await store.blob(lost.hash)).toBeUndefined();
    const twice = entryAfter(undefined, 'w');
    const again = { ...entryAfter(twice, 'w'), id: twice.id };
    expect(await store.commit(batchOf([twice, again]))).toEqual(conflictAt(again));
    expect(await store.head('w')).toBeUndefined();
  });

  law('of 50 concurrent appends of one id to 50 trajectories, one is committed', async () => {
    const store = await openNew();
    const rows = Array.from({ length: 50 }, (_, n) => ({
      ...entryAfter(undefined, `t${n}`),
      id: 'a'.repeat(64),
    }));
    const results = await Promise.all(rows.map((row) => store.commit(batchOf(row))));
    expect(countOf(results, 'committed')).toBe(1);
    expect(countOf(results, 'conflict')).toBe(49);
    const winner = rows[results.findIndex(({ status }) => status === 'committed')]!;
    expect(await store.resolve(winner.id)).toEqual(winner);
    expect(await store.trajectories()).toEqual([
      { trajectory_id: winner.trajectory_id, entries: 1, head: winner.id },
    ]);
  });

  law('a batch that comes again is a conflict, and is there once', async () => {
    const store = await openNew();
    const batch = batchOf(chainOf('t', 2), [blobOf('blob')]);
    const results = await Promise.all([
      store.commit(batch),
      store.commit(batch),
      store.commit(batch),
    ]);
    expect(countOf(results, 'committed')).toBe(1);
    expect(countOf(results, 'conflict')).toBe(2);
    expect(await store.commit(batch)).toEqual(conflictAt(batch.entries[0]!));
    expect(await store.entries('t')).toEqual(batch.entries);
  });

  law('an unknown commit is settled by resolve on a reopened store', async () => {
    const place = newPlace();
    let head: EntryRow | undefined;
    for (const written of [true, false]) {
      const batch = batchAfter(head, written);
      const broken = faultyStore(await openAt(place), faultAt(1, { kind: 'torn', sent: written }));
      expect(await broken.commit(batch)).toMatchObject({ status: 'unknown' });
      await expect(broken.resolve(batch.entries[0]!.id)).rejects.toMatchObject({
        code: 'store_poisoned',
      });
      await broken.close();
      const store = await openAt(place);
      for (const row of batch.entries)
        expect(await store.resolve(row.id)).toEqual(written ? row : undefined);
      expect(await store.blob(batch.blobs[0]!.hash)).toBe(
        written ? batch.blobs[0]!.text : undefined,
      );
      // Sending the batch again is harmless: the store has it once.
      expect(await store.commit(batch)).toEqual(
        written ? conflictAt(batch.entries[0]!) : COMMITTED,
      );
      head = batch.entries.at(-1);
      expect(await store.head('t')).toEqual(head);
      await store.close();
    }
    expect(await (await openAt(place)).entries('t')).toHaveLength(4);
  });
}

function batchAfter(head: EntryRow | undefined, note: unknown): Batch {
  const first = entryAfter(head, 't', note);
  return batchOf([first, entryAfter(first, 't', note)], [blobOf(`blob ${note}`)]);
}
