import type { Store } from 'assize/internal/stores';
import type { RootWatch } from './root-watch.ts';
import { tenantOf } from './tenant-of.ts';

/** The kinds of rows in the side log whose keys are trajectories, and that a process acts on. */
const OF_TRAJECTORIES: ReadonlySet<string> = new Set(['run/open']);

/**
 * The store of a cell. It refuses what the root log does not allow: entries of tenants that live
 * elsewhere, and every entry while the root log is silent. Reads, and the log of tool calls, go on:
 * a call in progress is recorded to its end. Lists have the trajectories of its own tenants, and
 * not the copies that others left behind.
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
  const isListed = (trajectoryId: string): boolean => {
    const place = watch.placeOf(tenantOf(trajectoryId));
    return place === undefined || place.name === watch.cell;
  };
  const trajectories: Store['trajectories'] = async () =>
    (await store.trajectories()).filter(({ trajectory_id }) => isListed(trajectory_id));
  const trajectoriesToReview = async (): Promise<string[]> => {
    const names = await store.trajectoriesToReview?.();
    return (
      names?.filter(isListed) ?? (await trajectories()).map(({ trajectory_id }) => trajectory_id)
    );
  };
  const close: Store['close'] = async () => {
    try {
      await onClose();
    } finally {
      await store.close();
    }
  };
  const own: Readonly<Record<string, unknown>> = {
    commit,
    sidePut,
    trajectories,
    trajectoriesToReview,
    close,
  };
  return new Proxy(store, {
    get: (target, name) => {
      if (typeof name === 'string' && Object.hasOwn(own, name)) return own[name];
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
