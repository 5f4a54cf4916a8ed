import type { LedgerStore } from 'assize/internal/ledger';
import { expect } from 'vitest';
import { batchOf, blobOf, chainOf, entryAfter } from '../store-rows.ts';
import type { Bench } from '../suite.ts';
import { COMMITTED, conflictAt, countOf } from './answers.ts';

/** Several handles on one place, as several processes have them. */
export function handleLaws({ law, newPlace, openAt }: Bench<LedgerStore>): void {
  const openMany = async (count: number): Promise<LedgerStore[]> => {
    const place = newPlace();
    const stores: LedgerStore[] = [];
    while (stores.length < count) stores.push(await openAt(place));
    return stores;
  };

  law('two handles on one place see and stop each other', async () => {
    const [left, right] = (await openMany(2)) as [LedgerStore, LedgerStore];
    const root = entryAfter(undefined, 't');
    expect(await left.commit(batchOf(root))).toEqual(COMMITTED);
    expect(await right.head('t')).toEqual(root);
    const fromRight = entryAfter(root, 't', 'right');
    expect(await right.commit(batchOf(fromRight))).toEqual(COMMITTED);
    const fromLeft = entryAfter(fromRight, 't', 'left');
    expect(await left.commit(batchOf(fromLeft))).toEqual(COMMITTED);
    const stale = entryAfter(fromRight, 't', 'right again');
    expect(await right.commit(batchOf(stale))).toEqual(conflictAt(stale));
    expect(await left.head('t')).toEqual(fromLeft);
    const copy = { ...entryAfter(undefined, 'u'), id: fromLeft.id };
    expect(await right.commit(batchOf(copy))).toEqual(conflictAt(copy));
  });

  law('two handles that race leave one chain', async () => {
    const stores = await openMany(2);
    const write = async (store: LedgerStore, who: number): Promise<string[]> => {
      const committed: string[] = [];
      while (committed.length < 25) {
        const row = entryAfter(await store.head('t'), 't', [who, committed.length]);
        if ((await store.commit(batchOf(row))).status === 'committed') committed.push(row.id);
      }
      return committed;
    };
    const committed = (await Promise.all(stores.map(write))).flat();
    const entries = await stores[0]!.entries('t');
    expect(entries.map((row) => row.seq)).toEqual(entries.map((_, index) => index));
    expect(entries.map((row) => row.parent)).toEqual([
      null,
      ...entries.slice(0, -1).map((row) => row.id),
    ]);
    expect(new Set(entries.map((row) => row.id))).toEqual(new Set(committed));
  });

  law('of 100 appends to one head over four handles one commits, 99 conflict', async () => {
    const stores = await openMany(4);
    let head = await stores[0]!.head('t');
    for (let round = 0; round < 3; round += 1) {
      const rivals = Array.from({ length: 100 }, (_, note) => entryAfter(head, 't', [round, note]));
      const results = await Promise.all(
        rivals.map((row, n) => stores[n % 4]!.commit(batchOf(row))),
      );
      expect(countOf(results, 'committed')).toBe(1);
      expect(countOf(results, 'conflict')).toBe(99);
      head = rivals[results.findIndex(({ status }) => status === 'committed')];
      for (const store of stores) expect(await store.head('t')).toEqual(head);
    }
    expect((await stores[0]!.entries('t')).map((row) => row.seq)).toEqual([0, 1, 2]);
  });

  law('an id appended to 40 trajectories over four handles is committed once', async () => {
    const stores = await openMany(4);
    const rows = Array.from({ length: 40 }, (_, n) => ({
      ...entryAfter(undefined, `t${n}`),
      id: 'a'.repeat(64),
    }));
    const results = await Promise.all(rows.map((row, n) => stores[n % 4]!.commit(batchOf(row))));
    expect(countOf(results, 'committed')).toBe(1);
    expect(countOf(results, 'conflict')).toBe(39);
    for (const store of stores) expect(await store.trajectories()).toHaveLength(1);
  });

  law('two handles’ racing batches over two trajectories are whole or absent', async () => {
    const [left, right] = (await openMany(2)) as [LedgerStore, LedgerStore];
    let heads = [entryAfter(undefined, 'a'), entryAfter(undefined, 'b')];
    await left.commit(batchOf(heads));
    for (let round = 0; round < 10; round += 1) {
      // In opposite orders, in which row locks would deadlock.
      const rivals = [left, right].map((_, who) =>
        heads.map((row) => entryAfter(row, row.trajectory_id, [round, who])),
      );
      const results = await Promise.all([
        left.commit(batchOf(rivals[0]!, [blobOf(`left ${round}`)])),
        right.commit(batchOf(rivals[1]!.toReversed(), [blobOf(`right ${round}`)])),
      ]);
      expect(countOf(results, 'committed')).toBe(1);
      expect(countOf(results, 'conflict')).toBe(1);
      const winner = results[0]!.status === 'committed' ? 0 : 1;
      heads = rivals[winner]!;
      expect(await Promise.all(heads.map((row) => right.head(row.trajectory_id)))).toEqual(heads);
      const blobs = await Promise.all(
        ['left', 'right'].map((who) => left.blob(blobOf(`${who} ${round}`).hash)),
      );
      expect(blobs.map((text) => text !== undefined)).toEqual([winner === 0, winner === 1]);
    }
  });

  law('a handle that is closed leaves the others as they are', async () => {
    const [left, right] = (await openMany(2)) as [LedgerStore, LedgerStore];
    const chain = chainOf('t', 3);
    await left.commit(batchOf(chain[0]!));
    await left.close();
    expect(await right.commit(batchOf(chain[1]!))).toEqual(COMMITTED);
    expect(await right.entries('t')).toEqual(chain.slice(0, 2));
  });
}
