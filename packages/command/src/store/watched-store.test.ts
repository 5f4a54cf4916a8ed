import { budget } from '@assize/cli/internal/domains/budget';
import { generateKeys } from 'assize/internal/canon';
import { integrateLog } from 'assize/internal/ledger';
import { Assize, verifyStore } from 'assize/internal/runtime';
import { openStore } from 'assize/internal/stores';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { watchedStore } from './watched-store.ts';

let store: Awaited<ReturnType<typeof openStore>>;

beforeEach(async () => {
  store = await openStore('memory:');
  await new Assize({ store, domains: [budget], anchors: [generateKeys().publicKey] }).create(
    budget,
    {
      trajectoryId: 'b',
    },
  );
});
afterEach(() => store.close());

test('reads the entries of the store and counts them', async () => {
  const read: number[] = [];
  const watched = watchedStore(store, new AbortController().signal, (entries) =>
    read.push(entries),
  );
  expect(await watched.entries('b')).toEqual(await store.entries('b'));
  await watched.entries('b');
  await integrateLog(store);
  expect(await watched.logged(0, 10)).toEqual(await store.logged(0, 10));
  expect(read).toEqual([1, 2, 3]);
});

test('an interruption that comes while a replay runs ends it with its reason', async () => {
  const interruption = new AbortController();
  const reason = new Error('Ctrl-C');
  // Only a turn of the event loop lets this in: a replay that finds all pages in memory gives none
  // by itself.
  setImmediate(() => interruption.abort(reason));
  await expect(verifyStore(watchedStore(store, interruption.signal))).rejects.toBe(reason);
});
