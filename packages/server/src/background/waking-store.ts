import type { EntryRow } from 'assize/internal/ledger';
import type { Store } from 'assize/internal/stores';

/** The same store. It also calls `onCommit` with the entries of each commit of this process. */
export function wakingStore(store: Store, onCommit: (entries: readonly EntryRow[]) => void): Store {
  const commit: Store['commit'] = async (batch) => {
    const result = await store.commit(batch);
    if (result.status === 'committed') onCommit(batch.entries);
    return result;
  };
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'commit') return commit;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
