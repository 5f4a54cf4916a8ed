import { batchOf, blobOf, entryAfter } from '@assize/testing/internal/store-rows.ts';
import { expect, test } from 'vitest';
import { withPostgres } from '../../../../tests/support/postgres/index.ts';
import { roundTripsOf } from '../../../../tests/support/postgres/round-trips.ts';
import { openPostgres } from '../index.ts';

withPostgres('texts of blobs', (postgres) => {
  test('blobs requested concurrently are each answered, in a few round trips', async () => {
    const store = await openPostgres({ url: postgres.url() });
    const blobs = Array.from({ length: 200 }, (_, i) => blobOf(`text ${i}`));
    const by = entryAfter(undefined, 't');
    await store.commit(batchOf(by, blobs));
    await store.commit({ ...batchOf([]), erased: [{ hash: blobs[7]!.hash, by: by.id }] });
    const asked = [...blobs, blobOf('never stored'), blobs[3]!];
    const texts = blobs.map(({ text }, i) => (i === 7 ? undefined : text));
    const read = () => Promise.all(asked.map(({ hash }) => store.blob(hash)));
    expect(await read()).toEqual([...texts, undefined, texts[3]]);
    expect(await roundTripsOf(read)).toBeLessThan(10);
    await store.close();
  });

  test('a blob requested before the store is closed is still read', async () => {
    const store = await openPostgres({ url: postgres.url() });
    const blob = blobOf('one');
    await store.commit(batchOf(entryAfter(undefined, 't'), [blob]));
    const read = store.blob(blob.hash);
    await store.close();
    expect(await read).toBe('one');
  });
});
