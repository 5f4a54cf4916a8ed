import { expect, test } from 'vitest';
import { ledgerStoreSuite } from '../../testing/ledger-store-suite.ts';
import { batchOf, entryAfter } from '../../testing/store-rows.ts';
import { MemoryStore } from './store.ts';

const reason = 'nothing survives the object';

ledgerStoreSuite({
  name: 'memory',
  open: async () => new MemoryStore(),
  skip: [
    'an unknown commit is settled by resolve on a store opened anew',
    'a store that is closed and opened between batches gives what a plain model gives',
    'a store opened again has all that was committed',
    'what close still answered is there when the store is opened again, and nothing else',
    'two handles on one place see and stop each other',
    'two handles that race leave one chain',
    'of 100 that append to one head through four handles, one is committed and 99 are conflicts',
    'of 40 that bring one id through four handles to 40 trajectories, one is committed',
    'a batch over two trajectories that races for both through two handles is there whole or not at all',
    'a handle that is closed leaves the others as they are',
    'a store opened again knows what was erased',
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
  expect(await Promise.allSettled(both)).toMatchObject([{ status: 'rejected' }, { status: 'fulfilled' }]);
  expect((await store.trajectories()).map(({ trajectory_id }) => trajectory_id)).toEqual(['b']);
});
