import type { BlobRow, EntryRow, LedgerStore } from 'assize/internal/ledger';
import { expect } from 'vitest';
import { batchOf, blobOf, chainOf, entryAfter } from '../store-rows.ts';
import type { Bench } from '../suite.ts';
import { COMMITTED, conflictAt } from './answers.ts';

/** A batch is atomic, and may follow a batch that is still queued. */
export function batchLaws({ law, openNew }: Bench<LedgerStore>): void {
  law('an empty batch changes nothing', async () => {
    const store = await openNew();
    expect(await store.commit(batchOf([]))).toEqual(COMMITTED);
    expect(await store.trajectories()).toEqual([]);
    // Also among other entries, if there is a head that it could move.
    const [first, second] = chainOf('t', 2) as [EntryRow, EntryRow];
    const batches = [
      batchOf(first),
      batchOf([]),
      batchOf(entryAfter(first, 't', 'rival')),
      batchOf([]),
    ];
    const results = await Promise.all(batches.map((batch) => store.commit(batch)));
    expect(results).toEqual([COMMITTED, COMMITTED, COMMITTED, COMMITTED]);
    expect(await store.commit(batchOf(second))).toEqual(conflictAt(second));
    expect(await store.commit(batchOf([]))).toEqual(COMMITTED);
    expect(await store.entries('t')).toHaveLength(2);
  });

  law('a batch is written whole or not at all', async () => {
    const store = await openNew();
    const taken = entryAfter(undefined, 'taken');
    const kept = blobOf('kept');
    await store.commit(batchOf(taken, [kept]));
    const rival = entryAfter(undefined, 'taken', 'rival');
    const blob = blobOf('blob');
    const fresh = chainOf('fresh', 2);
    // The conflicting row is at the start, in the middle, and at the end.
    for (const rows of [
      [rival, ...fresh],
      [fresh[0]!, rival, fresh[1]!],
      [...fresh, rival],
    ]) {
      expect(await store.commit(batchOf(rows, [kept, blob]))).toEqual(conflictAt(rival));
      for (const row of fresh) expect(await store.resolve(row.id)).toBeUndefined();
      expect(await store.head('fresh')).toBeUndefined();
      expect(await store.blob(blob.hash)).toBeUndefined();
    }
    // A blob that an earlier batch wrote stays.
    expect(await store.blob(kept.hash)).toBe(kept.text);
    expect(await store.trajectories()).toEqual([
      { trajectory_id: 'taken', entries: 1, head: taken.id },
    ]);
    expect(await store.commit(batchOf(fresh, [blob]))).toEqual(COMMITTED);
  });

  law('a batch may go back and forth between trajectories', async () => {
    const store = await openNew();
    const [a, b] = [chainOf('a', 3), chainOf('b', 3)];
    const mixed = [a[0]!, b[0]!, a[1]!, a[2]!, b[1]!, b[2]!];
    expect(await store.commit(batchOf(mixed))).toEqual(COMMITTED);
    expect(await store.entries('a')).toEqual(a);
    expect(await store.entries('b')).toEqual(b);
  });

  law('a batch over several trajectories is refused whole if one head has moved', async () => {
    const store = await openNew();
    const names = ['a', 'b', 'c'];
    const roots = names.map((name) => entryAfter(undefined, name));
    await store.commit(batchOf(roots));
    const moved = entryAfter(roots[1], 'b', 'moved');
    await store.commit(batchOf(moved));
    const next = roots.map((root) => entryAfter(root, root.trajectory_id, 'all together'));
    expect(await store.commit(batchOf(next))).toEqual(conflictAt(next[1]!));
    const heads = await Promise.all(names.map((name) => store.head(name)));
    expect(heads).toEqual([roots[0], moved, roots[2]]);
    const again = heads.map((head) => entryAfter(head, head!.trajectory_id, 'again'));
    expect(await store.commit(batchOf(again))).toEqual(COMMITTED);
    expect(await Promise.all(names.map((name) => store.head(name)))).toEqual(again);
  });

  law('a batch may build on one that still waits', async () => {
    const store = await openNew();
    const chain = chainOf('t', 50);
    const results = await Promise.all(chain.map((row) => store.commit(batchOf(row))));
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['committed']));
    expect(await store.entries('t')).toEqual(chain);
  });

  law('when a waiting batch fails, those that build on it are conflicts', async () => {
    const store = await openNew();
    const root = entryAfter(undefined, 't');
    await store.commit(batchOf(root));
    const winner = entryAfter(root, 't', 'winner');
    const loser = entryAfter(root, 't', 'loser');
    const afterLoser = entryAfter(loser, 't');
    const rows = [winner, loser, afterLoser, entryAfter(afterLoser, 't'), entryAfter(winner, 't')];
    const results = await Promise.all(rows.map((row) => store.commit(batchOf(row))));
    expect(results).toEqual([COMMITTED, ...rows.slice(1, 4).map(conflictAt), COMMITTED]);
    expect(await store.entries('t')).toEqual([root, winner, rows[4]]);
  });

  law('when a queued batch fails for its id, batches that build on it conflict', async () => {
    const store = await openNew();
    const taken = entryAfter(undefined, 'taken');
    await store.commit(batchOf(taken));
    const copy = { ...entryAfter(undefined, 't'), id: taken.id };
    const rows = [copy, entryAfter(copy, 't'), entryAfter(undefined, 't', 'instead')];
    const results = await Promise.all(rows.map((row) => store.commit(batchOf(row))));
    expect(results).toEqual([...rows.slice(0, 2).map(conflictAt), COMMITTED]);
    expect(await store.entries('t')).toEqual([rows[2]]);
  });

  law('a blob is stored once and stays as it was first', async () => {
    const store = await openNew();
    const blob = blobOf('first');
    const [a, b] = chainOf('t', 2) as [EntryRow, EntryRow];
    await store.commit(batchOf(a, [blob, blob]));
    expect(await store.commit(batchOf(b, [{ ...blob, text: 'second' }]))).toEqual(COMMITTED);
    expect(await store.blob(blob.hash)).toBe('first');
    const alone = blobOf('without an entry');
    expect(await store.commit(batchOf([], [alone]))).toEqual(COMMITTED);
    expect(await store.blob(alone.hash)).toBe(alone.text);
  });

  law('concurrent batches with one blob are all committed', async () => {
    const store = await openNew();
    const shared: readonly BlobRow[] = ['x', 'y', 'z'].map(blobOf);
    const batches = Array.from({ length: 30 }, (_, n) => {
      // In different orders, in which row locks would deadlock.
      const blobs = n % 2 === 0 ? shared : shared.toReversed();
      return batchOf(entryAfter(undefined, `t${n}`), blobs);
    });
    const results = await Promise.all(batches.map((batch) => store.commit(batch)));
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['committed']));
    for (const { hash, text } of shared) expect(await store.blob(hash)).toBe(text);
  });
}
