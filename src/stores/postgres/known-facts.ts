import { RecentMap } from '#canon';
import type { PartitionName } from '#ledger';
import { type FactState, nameKey } from '../facts.ts';

/** Partitions that are remembered; of others the server is asked. */
const PARTITIONS_MAX = 8_192;

/** Of what has more open rows than that nothing is remembered, so that what is stays small. */
const OPEN_MAX = 64;

/** What changes of a partition are judged by. */
export interface PartitionFacts extends FactState {
  /** Whether it ever had rows of a predicate with several values. */
  readonly several: boolean;
}

/**
 * Partitions as the server had them last: what it need not be asked before a change. Nothing is decided by it alone. The server checks
 * the version of each partition when it writes, and each change raises that; so what is remembered is what is there, or the change is
 * undone and the server is asked after all.
 */
export class KnownFacts {
  readonly #partitions: RecentMap<string, { readonly state: PartitionFacts | undefined } | undefined> = new RecentMap(
    PARTITIONS_MAX,
  );
  #run: number | undefined;

  /** The rebuilding of facts that all of it is from; undefined where nothing is remembered. */
  get run(): number | undefined {
    return this.#run;
  }

  /** Undefined where the server has to be asked; without a state where there was no such partition. */
  get(name: PartitionName): { readonly state: PartitionFacts | undefined } | undefined {
    return this.#partitions.get(nameKey(name));
  }

  /** As it was just read or written. What was read may have been overtaken by what is remembered, which then stays. */
  learn(run: number, name: PartitionName, state: PartitionFacts | undefined): void {
    if (run !== this.#run) this.clear();
    this.#run = run;
    const key = nameKey(name);
    const before = this.#partitions.get(key)?.state;
    if ((before?.version ?? 0) > (state?.version ?? 0)) return;
    this.#partitions.set(key, (state?.open.size ?? 0) > OPEN_MAX ? undefined : { state });
  }

  forget(names: Iterable<PartitionName>): void {
    for (const name of names) this.#partitions.set(nameKey(name), undefined);
  }

  clear(): void {
    this.#partitions.clear();
    this.#run = undefined;
  }
}
