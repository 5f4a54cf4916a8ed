import type { PartitionName } from '#ledger';
import { type FactState, nameKey } from '../../facts.ts';

/** Partitions and open rows that are remembered; of others the server is asked. */
const PARTITIONS_MAX = 10_000;
const ROWS_MAX = 100_000;

/** What changes of a partition are judged by. */
export interface PartitionFacts extends FactState {
  /** Whether it ever had rows of a predicate with several values. */
  readonly several: boolean;
}

/** Without a state where there was no such partition. */
interface Remembered {
  readonly state: PartitionFacts | undefined;
}

/**
 * Partitions as the server had them last: what it need not be asked before a change. Nothing is decided by it alone. The server checks
 * the version of each partition when it writes, and each change raises that; so what is remembered is what is there, or the change is
 * undone and the server is asked after all.
 */
export class KnownFacts {
  readonly #partitions: Map<string, Remembered> = new Map();
  #rows = 0;
  #run: number | undefined;

  /** The rebuilding of facts that all of it is from; undefined where nothing is remembered. */
  get run(): number | undefined {
    return this.#run;
  }

  /** Those of all of these, and they are not remembered any more: who takes them changes them. Undefined where the server has to be asked. */
  take(names: readonly PartitionName[]): ReadonlyMap<PartitionName, PartitionFacts | undefined> | undefined {
    const found = new Map<PartitionName, PartitionFacts | undefined>();
    for (const name of names) {
      const remembered = this.#partitions.get(nameKey(name));
      if (remembered === undefined) return undefined;
      found.set(name, remembered.state);
    }
    this.forget(names);
    return found;
  }

  /** As it was just read or written. What was read may have been overtaken by what is remembered, which then stays. */
  learn(run: number, name: PartitionName, state: PartitionFacts | undefined): void {
    if (run !== this.#run) this.clear();
    this.#run = run;
    const key = nameKey(name);
    const before = this.#partitions.get(key)?.state;
    if ((before?.version ?? 0) > (state?.version ?? 0)) return;
    this.forget([name]);
    this.#rows += state?.open.size ?? 0;
    if (this.#partitions.size >= PARTITIONS_MAX || this.#rows > ROWS_MAX) {
      this.#partitions.clear();
      this.#rows = state?.open.size ?? 0;
    }
    this.#partitions.set(key, { state });
  }

  forget(names: Iterable<PartitionName>): void {
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
