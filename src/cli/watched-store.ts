import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LedgerStore } from 'assize';

/**
 * The same store, read so that Ctrl-C comes through: before each page the event loop gets its turn, which a replay that
 * finds every page in memory would never give it, and an interruption ends the work. Says how many entries were read.
 */
export function watchedStore<S extends LedgerStore>(
  store: S,
  interruption: AbortSignal,
  onRead: (entries: number) => void = () => undefined,
): S {
  let read = 0;
  const entries: S['entries'] = async (...asked) => {
    await nextTurn();
    interruption.throwIfAborted();
    const rows = await store.entries(...asked);
    read += rows.length;
    onRead(read);
    return rows;
  };
  return new Proxy(store, {
    get: (_store, name) => {
      if (name === 'entries') return entries;
      const member: unknown = Reflect.get(store, name);
      return typeof member === 'function' ? member.bind(store) : member;
    },
  });
}
