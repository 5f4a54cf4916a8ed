import { setTimeout as pause } from 'node:timers/promises';
import type { SideRow, SideStore } from 'assize/internal/ledger';

/** Rows that stay in memory. */
const KEPT_MAX = 10_000;
/** A read of a row that is in memory may take this long. */
const PATIENCE_MS = 1_000;

interface Kept {
  readonly row: SideRow;
  readonly atMs: number;
}

export interface GracedReadsOptions {
  /** Milliseconds for which a row counts after it was read. */
  readonly graceMs: number;
  /** Throws when the store has been silent for so long that a read of it ends. */
  readonly requireHeard: () => void;
  /** A monotonic clock in milliseconds. */
  readonly nowMs?: () => number;
}

/**
 * The same side log, whose rows count for a time while it cannot be read: the root store may fail
 * over, and tokens that were read before still count. A row that was deleted meanwhile, such as a
 * revoked token, counts for that time at most.
 *
 * A read of another row waits for the store, but not for one that stays silent: it then throws the
 * error of `requireHeard`.
 */
export function gracedReads(
  store: SideStore,
  { graceMs, requireHeard, nowMs = () => performance.now() }: GracedReadsOptions,
): SideStore {
  const kept = new Map<string, Kept>();
  const keep = (place: string, row: SideRow | undefined, atMs: number): void => {
    kept.delete(place);
    if (row === undefined) return;
    if (kept.size >= KEPT_MAX) kept.delete(kept.keys().next().value as string);
    kept.set(place, { row, atMs });
  };
  const sideGet: SideStore['sideGet'] = async (kind, key) => {
    const place = JSON.stringify([kind, key]);
    const startedMs = nowMs();
    const reading = store.sideGet(kind, key).then((row) => {
      keep(place, row, startedMs);
      return row;
    });
    const last = kept.get(place);
    if (last === undefined || startedMs - last.atMs > graceMs)
      return unlessSilent(reading, requireHeard);
    const late = new AbortController();
    try {
      return await Promise.race([
        reading,
        pause(PATIENCE_MS, last.row, { signal: late.signal }),
      ]).catch(() => last.row);
    } finally {
      late.abort();
    }
  };
  return {
    sideGet,
    sideList: (kind, page) => store.sideList(kind, page),
    sidePut: async (changes) => {
      try {
        return await store.sidePut(changes);
      } finally {
        for (const { kind, key } of changes) kept.delete(JSON.stringify([kind, key]));
      }
    },
  };
}

const LATE = Symbol('late');

/** The result of a read. Once a second it asks whether the store still counts as heard. */
async function unlessSilent<T>(reading: Promise<T>, requireHeard: () => void): Promise<T> {
  const ended = new AbortController();
  try {
    for (;;) {
      const result = await Promise.race([
        reading,
        pause(PATIENCE_MS, LATE, { signal: ended.signal }),
      ]);
      if (result !== LATE) return result as T;
      requireHeard();
    }
  } catch (error) {
    requireHeard();
    throw error;
  } finally {
    ended.abort();
  }
}
