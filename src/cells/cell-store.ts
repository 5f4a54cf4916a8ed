import type { Store } from '#stores';
import type { RootWatch } from './root-watch.ts';
import { tenantOf } from './tenant-of.ts';

/** The kinds of rows in the side log whose keys are trajectories, and that a process acts on. */
const OF_TRAJECTORIES: ReadonlySet<string> = new Set(['run/open']);

/**
 * The store of a cell, which refuses what the root log does not allow: entries of tenants that live
 * elsewhere, and every entry while the root log is silent. Reads, and the log of tool calls, go on:
 * a call in progress is recorded to its end.
 */
export function cellStore(store: Store, watch: RootWatch, onClose: () => Promise<void>): Store {
  const commit: Store['commit'] = async (batch) => {
    watch.requireWritable(batch.entries);
    return store.commit(batch);
  };
  const sidePut: Store['sidePut'] = async (changes) => {
    for (const { kind, key, body } of changes)
      if (body !== null && OF_TRAJECTORIES.has(kind)) watch.requireHere(tenantOf(key));
    return store.sidePut(changes);
  };
  const close: Store['close'] = async () => {
    try {
      await onClose();
    } finally {
      await store.close();
    }
  };
  const own: Readonly<Record<string, unknown>> = { commit, sidePut, close };
  return new Proxy(store, {
    get: (target, name) => {
      if (typeof name === 'string' && Object.hasOwn(own, name)) return own[name];
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
