/** A process with an open store. It commits the root of the trajectory that a message names. */
import { openSqlite } from '#stores';
import { batchOf, entryAfter } from '../../packages/testing/src/store-rows.ts';

const store = await openSqlite({ path: process.argv[2]! });

process.on('message', async (trajectoryId: string) => {
  const answered = store.commit(batchOf(entryAfter(undefined, trajectoryId)));
  const { status } = await answered.catch((error: { code: string }) => ({ status: error.code }));
  process.send?.(status);
});
process.on('disconnect', () => void store.close());
process.send?.('open');
