import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LedgerStore } from 'assize';

/**
 * The same store, read so that Ctrl-C comes through: before each page the event loop gets its turn, which a replay that
 * finds every page in memory would never give it, and an interruption ends the work. Says how many entries were read.
 */
export function watchedStore(
  store: LedgerStore,
  interruption: AbortSignal,
  onRead: (entries: number) => void = () => undefined,
): LedgerStore {
  let read = 0;
  return {
    entries: async (...asked) => {
      await nextTurn();
      interruption.throwIfAborted();
      const rows = await store.entries(...asked);
      read += rows.length;
      onRead(read);
      return rows;
    },
    commit: (batch) => store.commit(batch),
    resolve: (id) => store.resolve(id),
    head: (trajectoryId) => store.head(trajectoryId),
    trajectories: () => store.trajectories(),
    blob: (hash) => store.blob(hash),
    find: (prefix) => store.find(prefix),
    close: () => store.close(),
    ...(store.checkAhead && { checkAhead: store.checkAhead.bind(store) }),
  };
}
