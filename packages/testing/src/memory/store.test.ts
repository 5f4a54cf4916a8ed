import { expect, test } from 'vitest';
import { ledgerStoreSuite } from '../ledger-store-suite.ts';
import { batchOf, entryAfter } from '../store-rows.ts';
import { IN_MEMORY } from './in-memory.ts';
import { MemoryStore } from './store.ts';

const reason = 'nothing survives the object';

for (const [name, open] of Object.entries(IN_MEMORY))
  ledgerStoreSuite({
    name,
    open,
    skip: [
      'an unknown commit is settled by resolve on a reopened store',
      'a store reopened between batches gives the result of a plain model',
      'a store opened again has all that was committed',
      'a store opened again has exactly the queued batches that close committed',
      'two handles on one place see and stop each other',
      'two handles that race leave one chain',
      'of 100 appends to one head over four handles one commits, 99 conflict',
      'an id appended to 40 trajectories over four handles is committed once',
      'two handles’ racing batches over two trajectories are whole or absent',
      'a handle that is closed leaves the others as they are',
      'a store opened again knows which blobs were erased',
    ].map((test) => ({ test, reason })),
  });

test('a row that becomes unreadable fails its own commit and blocks no other', async () => {
  const store = new MemoryStore();
  const row = entryAfter(undefined, 'a');
  const broken = Object.defineProperty({ ...row }, 'parent', {
    get: () => {
      throw new Error('gone');
    },
  });
  const both = [store.commit(batchOf(broken)), store.commit(batchOf(entryAfter(undefined, 'b')))];
  expect(await Promise.allSettled(both)).toMatchObject([
    { status: 'rejected' },
    { status: 'fulfilled' },
  ]);
  expect((await store.trajectories()).map(({ trajectory_id }) => trajectory_id)).toEqual(['b']);
});
