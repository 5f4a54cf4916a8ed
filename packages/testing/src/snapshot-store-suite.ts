import type { Batch, LedgerStore, SnapshotRow, SnapshotStore } from 'assize/internal/ledger';
import { expect } from 'vitest';
import { AWKWARD_TEXTS, JSON_TEXTS, LOOKALIKES, longText } from './laws/texts.ts';
import { batchOf, blobOf, chainOf } from './store-rows.ts';
import { type Bench, runSuite, type StoreSuite } from './suite.ts';

/** Snapshots are stored next to the entries that they represent. */
type Store = LedgerStore & SnapshotStore;

export type SnapshotStoreSuite = StoreSuite<Store>;

/**
 * The rules of every snapshot store: the last snapshot of a trajectory exactly as given, and none
 * after all were dropped. Call it in a test file of the store.
 */
export function snapshotStoreSuite(suite: SnapshotStoreSuite): void {
  runSuite('snapshot', suite, SNAPSHOT_LAWS);
}

export const SNAPSHOT_LAWS: readonly ((bench: Bench<Store>) => void)[] = [snapshotLaws];

function snapshotOf(trajectory_id: string, seq: number, text: string): SnapshotRow {
  return { trajectory_id, seq, hash: blobOf(text).hash, text };
}

function erasing(...texts: string[]): Batch {
  const by = blobOf('eraser').hash;
  return { ...batchOf([]), erased: texts.map((text) => ({ hash: blobOf(text).hash, by })) };
}

function snapshotLaws({ law, newPlace, openAt, openNew }: Bench<Store>): void {
  const begun = async (store: Store, ...names: string[]): Promise<Store> => {
    await store.commit(batchOf(names.map((name) => chainOf(name, 1)[0]!)));
    return store;
  };

  law('a trajectory has no snapshot before one is put', async () => {
    const store = await openNew();
    expect(await store.snapshot('t')).toBeUndefined();
    expect(await (await begun(store, 't')).snapshot('t')).toBeUndefined();
    await store.dropSnapshots();
  });

  law('the snapshot that was put last is there, one for each trajectory', async () => {
    const store = await begun(await openNew(), 't', 'u');
    const [first, second, other] = [
      snapshotOf('t', 7, '1'),
      snapshotOf('t', 9, '22'),
      snapshotOf('u', 3, '333'),
    ];
    for (const row of [first, other, second]) await store.putSnapshot(row, 0);
    expect(await store.snapshot('t')).toEqual(second);
    expect(await store.snapshot('u')).toEqual(other);
    // A corrupt snapshot may claim to be newer than any other.
    await store.putSnapshot(first, 0);
    expect(await store.snapshot('t')).toEqual(first);
  });

  law('a snapshot of a trajectory that is not there is not kept', async () => {
    const store = await begun(await openNew(), 't');
    await store.putSnapshot(snapshotOf('u', 0, 'early'), 0);
    expect(await store.snapshot('u')).toBeUndefined();
    expect(await (await begun(store, 'u')).snapshot('u')).toBeUndefined();
  });

  law('dropping all snapshots leaves none, and changes no entry and no blob', async () => {
    const store = await openNew();
    const [chain, blob] = [chainOf('t', 3), blobOf('kept')];
    await store.commit(batchOf([...chain, ...chainOf('u', 1)], [blob]));
    for (const name of ['t', 'u']) await store.putSnapshot(snapshotOf(name, 0, name), 0);
    await store.dropSnapshots();
    for (const name of ['t', 'u']) expect(await store.snapshot(name)).toBeUndefined();
    expect(await store.entries('t')).toEqual(chain);
    expect(await store.blob(blob.hash)).toBe(blob.text);
    await store.putSnapshot(snapshotOf('t', 1, 'again'), 0);
    expect(await store.snapshot('t')).toEqual(snapshotOf('t', 1, 'again'));
  });

  law('an erasure takes all snapshots with it', async () => {
    const store = await begun(await openNew(), 't', 'u');
    expect(await store.erasures()).toBe(0);
    await store.putSnapshot(snapshotOf('t', 0, 'with it'), 0);
    await store.commit(erasing('one', 'other'));
    expect(await store.snapshot('t')).toBeUndefined();
    expect(await store.erasures()).toBe(2);
    await store.putSnapshot(snapshotOf('t', 0, 'without it'), 2);
    expect(await store.snapshot('t')).toEqual(snapshotOf('t', 0, 'without it'));
  });

  law('a snapshot with a fold that started before an erasure is not stored', async () => {
    const store = await begun(await openNew(), 't');
    const before = await store.erasures();
    await store.commit(erasing('one'));
    await store.putSnapshot(snapshotOf('t', 0, 'with it'), before);
    expect(await store.snapshot('t')).toBeUndefined();
    // Also if both calls are in flight.
    const [now] = [await store.erasures()];
    await Promise.all([
      store.commit(erasing('two')),
      store.putSnapshot(snapshotOf('t', 0, 'with it'), now),
    ]);
    expect(await store.snapshot('t')).toBeUndefined();
  });

  law('snapshots come back exactly as given', async () => {
    const store = await openNew();
    const texts = [...AWKWARD_TEXTS, ...JSON_TEXTS, longText(3_000_000)];
    await begun(store, ...LOOKALIKES);
    for (const [n, text] of texts.entries()) {
      const row = snapshotOf(LOOKALIKES[n % LOOKALIKES.length]!, n, text);
      // The store keeps the given hash, whether or not it matches the text.
      const given = n % 2 === 0 ? row : { ...row, hash: 'a'.repeat(64) };
      await store.putSnapshot(given, 0);
      expect(await store.snapshot(row.trajectory_id)).toEqual(given);
    }
  });

  law('a later mutation of a passed or returned snapshot changes no stored one', async () => {
    const store = await begun(await openNew(), 't');
    const row = { ...snapshotOf('t', 0, 'text') };
    const kept = { ...row };
    await store.putSnapshot(row, 0);
    row.text = 'changed';
    const got = (await store.snapshot('t')) as { text: string };
    if (!Object.isFrozen(got)) got.text = 'changed';
    expect(await store.snapshot('t')).toEqual(kept);
  });

  law('a snapshot that no row can hold is refused, and nothing is written', async () => {
    const store = await begun(await openNew(), 't');
    const row = snapshotOf('t', 0, 'text');
    for (const wrong of [
      { trajectory_id: 'a\0b' },
      { seq: -1 },
      { seq: 0.5 },
      { hash: 'x' },
      { hash: row.hash.toUpperCase() },
      { text: '\ud800' },
      { text: 'a\0b' },
      { text: 1 },
    ]) {
      const put = store.putSnapshot({ ...row, ...wrong } as SnapshotRow, 0);
      await expect(put, JSON.stringify(wrong)).rejects.toMatchObject({
        code: 'store_invalid_input',
      });
    }
    await expect(store.putSnapshot(row, -1)).rejects.toMatchObject({ code: 'store_invalid_input' });
    await expect(store.snapshot('\ud800')).rejects.toMatchObject({ code: 'store_invalid_input' });
    expect(await store.snapshot('t')).toBeUndefined();
  });

  law('a store opened again has the snapshots, and those that close still took', async () => {
    const place = newPlace();
    const store = await begun(await openAt(place), 't', 'u');
    await store.putSnapshot(snapshotOf('t', 0, 'one'), 0);
    const putting = store.putSnapshot(snapshotOf('u', 0, 'two'), 0);
    await store.close();
    await putting;
    const again = await openAt(place);
    expect(await again.snapshot('t')).toEqual(snapshotOf('t', 0, 'one'));
    expect(await again.snapshot('u')).toEqual(snapshotOf('u', 0, 'two'));
  });

  law('two handles on one place have the same snapshots', async () => {
    const place = newPlace();
    const [left, right] = [await begun(await openAt(place), 't'), await openAt(place)];
    await left.putSnapshot(snapshotOf('t', 0, 'left'), 0);
    expect(await right.snapshot('t')).toEqual(snapshotOf('t', 0, 'left'));
    await Promise.all([
      left.putSnapshot(snapshotOf('t', 1, 'one'), 0),
      right.putSnapshot(snapshotOf('t', 2, 'other'), 0),
    ]);
    expect(['one', 'other']).toContain((await left.snapshot('t'))?.text);
    await right.dropSnapshots();
    expect(await left.snapshot('t')).toBeUndefined();
  });

  law('a closed store refuses snapshots', async () => {
    const store = await begun(await openNew(), 't');
    await store.close();
    for (const call of [
      () => store.snapshot('t'),
      () => store.putSnapshot(snapshotOf('t', 0, 'late'), 0),
      () => store.dropSnapshots(),
      () => store.erasures(),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: 'store_closed' });
    }
  });
}
