import type { PartitionName } from 'assize/internal/ledger';
import { type FactState, nameKey } from 'assize/internal/stores/facts.ts';

/** The maximum number of partitions and open rows in the cache. The server is asked for others. */
const PARTITIONS_MAX = 10_000;
const ROWS_MAX = 100_000;

/** The state of a partition against which changes are checked. */
export interface PartitionFacts extends FactState {
  /** Whether the partition ever had rows of a predicate with several values. */
  readonly several: boolean;
}

/** The state is undefined if the partition did not exist. */
interface Remembered {
  readonly state: PartitionFacts | undefined;
}

/**
 * A cache of partitions in the server's last known state. It avoids a request before a change.
 *
 * The cache alone decides nothing. The server checks the version of each partition when it writes,
 * and each change raises the version. If the cached state is stale, the change is rolled back and
 * the server is asked.
 */
export class PartitionCache {
  readonly #partitions: Map<string, Remembered> = new Map();
  #rows = 0;
  #run: number | undefined;

  /** The rebuild of facts that the cached state belongs to; undefined if the cache is empty. */
  get run(): number | undefined {
    return this.#run;
  }

  /**
   * Removes these partitions from the cache and returns them, because the caller changes them.
   * Undefined if the server must be asked.
   */
  take(
    names: readonly PartitionName[],
  ): ReadonlyMap<PartitionName, PartitionFacts | undefined> | undefined {
    const found = new Map<PartitionName, PartitionFacts | undefined>();
    for (const name of names) {
      const remembered = this.#partitions.get(nameKey(name));
      if (remembered === undefined) return undefined;
      found.set(name, remembered.state);
    }
    this.evict(names);
    return found;
  }

  /**
   * Caches a state that was just read or written. A newer cached state takes precedence over a read
   * one.
   */
  set(run: number, name: PartitionName, state: PartitionFacts | undefined): void {
    if (run !== this.#run) this.clear();
    this.#run = run;
    const key = nameKey(name);
    const before = this.#partitions.get(key)?.state;
    if ((before?.version ?? 0) > (state?.version ?? 0)) return;
    this.evict([name]);
    this.#rows += state?.open.size ?? 0;
    if (this.#partitions.size >= PARTITIONS_MAX || this.#rows > ROWS_MAX) {
      this.#partitions.clear();
      this.#rows = state?.open.size ?? 0;
    }
    this.#partitions.set(key, { state });
  }

  evict(names: Iterable<PartitionName>): void {
    for (const name of names) {
      const key = nameKey(name);
      this.#rows -= this.#partitions.get(key)?.state?.open.size ?? 0;
      this.#partitions.delete(key);
    }
  }

  clear(): void {
    this.#partitions.clear();
    this.#rows = 0;
    this.#run = undefined;
  }
}
