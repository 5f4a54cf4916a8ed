import type { Batch, EntryRow, LedgerStore } from 'assize/internal/ledger';
import { expect } from 'vitest';
import { batchOf, blobOf, chainOf, entryAfter } from '../store-rows.ts';
import type { Bench } from '../suite.ts';
import { COMMITTED, conflictAt } from './answers.ts';

/** Pages, order, and search by prefix. Reads see committed rows only. */
export function readingLaws({ law, openNew }: Bench<LedgerStore>): void {
  law('an empty store has nothing', async () => {
    const store = await openNew();
    expect(await store.trajectories()).toEqual([]);
    expect(await store.head('t')).toBeUndefined();
    expect(await store.entries('t')).toEqual([]);
    expect(await store.resolve('0'.repeat(64))).toBeUndefined();
    expect(await store.blob('0'.repeat(64))).toBeUndefined();
    expect(await store.find('00000000')).toEqual([]);
  });

  law('entries come in pages, in order', async () => {
    const store = await openNew();
    const chain = chainOf('t', 1_001);
    await store.commit(batchOf(chain));
    expect(await store.entries('t')).toEqual(chain.slice(0, 1_000));
    expect(await store.entries('t', { from: 998 })).toEqual(chain.slice(998));
    expect(await store.entries('t', { from: 3, limit: 2 })).toEqual(chain.slice(3, 5));
    expect(await store.entries('t', { limit: 2_000 })).toEqual(chain);
    expect(await store.entries('t', { from: 1_001 })).toEqual([]);
    expect(
      await store.entries('t', { from: Number.MAX_SAFE_INTEGER, limit: Number.MAX_SAFE_INTEGER }),
    ).toEqual([]);
    expect(await store.entries('u', { from: 0 })).toEqual([]);
  });

  law('trajectories are listed in order of creation', async () => {
    const store = await openNew();
    const chains = ['z', 'a', 'm'].map((trajectory, index) => chainOf(trajectory, index + 1));
    for (const chain of chains) await store.commit(batchOf(chain));
    const expected = (): unknown =>
      chains.map((chain) => ({
        trajectory_id: chain[0]!.trajectory_id,
        entries: chain.length,
        head: chain.at(-1)!.id,
      }));
    expect(await store.trajectories()).toEqual(expected());
    // Within a batch too; later appends do not change the order of trajectories.
    const more = ['y', 'b', 'x'].map((name) => entryAfter(undefined, name));
    await store.commit(batchOf(more));
    const longer = entryAfter(chains[0]!.at(-1), 'z', 'later');
    await store.commit(batchOf(longer));
    chains[0]!.push(longer);
    chains.push(...more.map((row) => [row]));
    expect(await store.trajectories()).toEqual(expected());
  });

  law('an entry is found by the beginning of its id', async () => {
    const store = await openNew();
    const beginnings = ['00000000', 'abcdef00', 'abcdef01', 'abcdef010', 'ffffffff', '1abcdef02'];
    const ids = beginnings.map((beginning) => beginning.padEnd(64, '5'));
    const rows = ids.map((id, index) => ({ ...entryAfter(undefined, `t${index}`), id }));
    for (const row of rows) await store.commit(batchOf(row));
    expect(await store.find('00000000')).toEqual([rows[0]]);
    expect(await store.find('FFFFFFFF')).toEqual([rows[4]]);
    expect(await store.find('abcdef00')).toEqual([rows[1]]);
    expect(await store.find('abcdef015')).toEqual([rows[2]]);
    expect(await store.find('abcdef02')).toEqual([]);
    expect(await store.find(ids[3]!)).toEqual([rows[3]]);
    expect(await store.find(ids[3]!.slice(0, 63))).toEqual([rows[3]]);
    const ambiguous = await store.find('abcdef01');
    expect(new Set(ambiguous)).toEqual(new Set([rows[2], rows[3]]));
    for (const prefix of ['', 'abcdef0', 'abcdef0g', `${ids[1]}0`, 'abcdef0%']) {
      await expect(store.find(prefix)).rejects.toMatchObject({ code: 'store_invalid_input' });
    }
  });

  law('of many that share a prefix, two are enough to say so', async () => {
    const store = await openNew();
    const rows = Array.from({ length: 5 }, (_, n) => {
      return { ...entryAfter(undefined, `t${n}`), id: `abcdef00${n}`.padEnd(64, '7') };
    });
    await store.commit(batchOf(rows));
    const found = await store.find('abcdef00');
    expect(found).toHaveLength(2);
    expect(found[0]).not.toEqual(found[1]);
    for (const row of found) expect(rows).toContainEqual(row);
  });

  law('reads see committed rows and nothing else', async () => {
    const store = await openNew();
    let head = entryAfter(undefined, 't');
    await store.commit(batchOf(head));
    for (let round = 0; round < 10; round += 1) {
      const [winner, loser] = [
        rivalAfter(head, `winner ${round}`),
        rivalAfter(head, `loser ${round}`),
      ];
      const waiting = [store.commit(winner), store.commit(loser)];
      const [entries, ofWinner, ofLoser] = await Promise.all([
        store.entries('t', { from: head.seq + 1 }),
        seenOf(store, winner),
        seenOf(store, loser),
      ]);
      // A read that is concurrent with the commit precedes or follows it entirely.
      expect([[], winner.entries]).toContainEqual(entries);
      expect(ofWinner).toEqual(ofWinner.toSorted());
      expect(ofLoser).toEqual([false, false, false]);
      expect(await Promise.all(waiting)).toEqual([COMMITTED, conflictAt(loser.entries[0]!)]);
      expect(await seenOf(store, winner)).toEqual([true, true, true]);
      expect(await seenOf(store, loser)).toEqual([false, false, false]);
      head = winner.entries[1]!;
    }
  });
}

function rivalAfter(head: EntryRow, note: string): Batch {
  const first = entryAfter(head, 't', note);
  return batchOf([first, entryAfter(first, 't', note)], [blobOf(note)]);
}

/** Whether each part of the batch is visible, read one after the other. */
async function seenOf(store: LedgerStore, { entries, blobs }: Batch): Promise<boolean[]> {
  const seen: boolean[] = [];
  for (const row of entries) {
    const found = await store.resolve(row.id);
    if (found !== undefined) expect(found).toEqual(row);
    seen.push(found !== undefined);
  }
  for (const { hash, text } of blobs) {
    const found = await store.blob(hash);
    if (found !== undefined) expect(found).toBe(text);
    seen.push(found !== undefined);
  }
  return seen;
}
