import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EntryRow, LedgerStore, LogStore } from 'assize/internal/ledger';

/**
 * The same store, with reads that Ctrl-C can interrupt. Each page first yields to the event loop:
 * a replay of cached pages would otherwise never do so. An interruption ends the work. Reports
 * the number of entries read.
 */
export function watchedStore<S extends LedgerStore & LogStore>(
  store: S,
  interruption: AbortSignal,
  onRead: (entries: number) => void = () => undefined,
): S {
  let read = 0;
  const watched = async (page: () => Promise<EntryRow[]>): Promise<EntryRow[]> => {
    await nextTurn();
    interruption.throwIfAborted();
    const rows = await page();
    read += rows.length;
    onRead(read);
    return rows;
  };
  const pages: Pick<LedgerStore & LogStore, 'entries' | 'logged'> = {
    entries: (...asked) => watched(() => store.entries(...asked)),
    logged: (...asked) => watched(() => store.logged(...asked)),
  };
  return new Proxy(store, {
    get: (_store, name) => {
      if (Object.hasOwn(pages, name)) return pages[name as keyof typeof pages];
      const member: unknown = Reflect.get(store, name);
      return typeof member === 'function' ? member.bind(store) : member;
    },
  });
}
