import type { SideStore } from 'assize/internal/ledger';

/** The most results that memory keeps. */
const RESULTS_MAX = 2_000;

interface Recent<T> {
  readonly startedMs: number;
  readonly result: Promise<T | undefined>;
}

/**
 * Results of reads of the store. Each counts for a limited time from the start of its
 * read. Only found values are kept, so unknown keys evict nothing.
 */
export class RecentReads<T> {
  readonly #read: (key: string) => Promise<T | undefined>;
  readonly #freshMs: number;
  readonly #nowMs: () => number;
  /** In the order of the reads. */
  readonly #results: Map<string, Recent<T>> = new Map();

  /** `nowMs`: a monotonic clock in milliseconds. */
  constructor(
    read: (key: string) => Promise<T | undefined>,
    freshMs: number,
    nowMs: () => number = () => performance.now(),
  ) {
    this.#read = read;
    this.#freshMs = freshMs;
    this.#nowMs = nowMs;
  }

  /** The value as it was at most `freshMs` ago. Callers at the same time share one read. */
  get(key: string): Promise<T | undefined> {
    const now = this.#nowMs();
    const kept = this.#results.get(key);
    if (kept !== undefined && now - kept.startedMs < this.#freshMs) return kept.result;
    this.#results.delete(key);
    if (this.#results.size >= RESULTS_MAX)
      this.#results.delete(this.#results.keys().next().value as string);
    const recent: Recent<T> = { startedMs: now, result: this.#read(key) };
    this.#results.set(key, recent);
    const drop = (): void => {
      if (this.#results.get(key) === recent) this.#results.delete(key);
    };
    recent.result.then((value) => value ?? drop(), drop);
    return recent.result;
  }

  /** The next `get` of the key reads the store. To be called after each write. */
  forget(key: string): void {
    this.#results.delete(key);
  }

  get size(): number {
    return this.#results.size;
  }
}

/** A row that another process wrote counts after this time at the latest. */
export const ROW_FRESH_MS = 1_000;

/**
 * The same side log, where a read of one row may be the row of up to `ROW_FRESH_MS` ago. A write of
 * this process counts from the next read on.
 */
export function recentSideStore(store: SideStore): SideStore {
  const rows = new RecentReads(async (place: string) => {
    const [kind, key] = JSON.parse(place) as [string, string];
    return store.sideGet(kind, key);
  }, ROW_FRESH_MS);
  return {
    sideGet: (kind, key) => rows.get(placeOf(kind, key)),
    sideList: (kind, page) => store.sideList(kind, page),
    sidePut: async (changes) => {
      try {
        return await store.sidePut(changes);
      } finally {
        // A put that rejects or resolves to false shows that a row may have changed.
        for (const { kind, key } of changes) rows.forget(placeOf(kind, key));
      }
    },
  };
}

function placeOf(kind: string, key: string): string {
  return JSON.stringify([kind, key]);
}
