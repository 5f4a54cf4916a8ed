import { type Instant, RecentMap } from '#canon';
import type { FactStore, FactVersion, FactWrite, LedgerStore, PartitionName, PartitionState } from '#ledger';
import { Merged } from './merged.ts';

/** Partitions whose open rows are kept in memory; more only cost a look each. */
const PARTITIONS_MAX = 4_096;

/** Claims of one partition that are kept in memory once the store has them. */
const CLAIMS_MAX = 1_000;

/** A partition as it is here: what the store had, and what was accepted since. */
export interface Known {
  readonly state: PartitionState | undefined;
  /** Claims that were looked for by the name of their source, and whether they had been made. */
  readonly claims: Map<string, boolean>;
}

/** What has to be read before it can be planned; whoever catches it reads it and plans again. */
export class NotRead extends Error {
  /** Where a judge is to be asked: when what it is asked about was said, so that the question stays the same. */
  readonly read: () => Promise<Instant | undefined>;

  constructor(read: () => Promise<Instant> | Promise<void>) {
    super('facts have to be read first');
    this.read = async () => (await read()) ?? undefined;
  }
}

/**
 * Partitions in memory, which move with what is accepted and are checked by the store with each commit. What turns out to be another
 * one there is forgotten here.
 */
export class Partitions {
  readonly #store: FactStore;
  readonly #merged: Merged;
  readonly #known: RecentMap<string, Known | null> = new RecentMap(PARTITIONS_MAX);
  /** What is on its way to the store, by partition. */
  readonly #sent: Map<string, Sent> = new Map();

  constructor(store: LedgerStore & FactStore) {
    this.#store = store;
    this.#merged = new Merged(store);
  }

  /** Undefined where it has to be read first. */
  get(name: PartitionName, claims: readonly string[]): Known | undefined {
    const known = this.#known.get(keyOf(name)) ?? undefined;
    return known !== undefined && claims.every((claim) => known.claims.has(claim)) ? known : undefined;
  }

  /**
   * Settles when nothing of another trajectory is on its way there; undefined where nothing is. Entries of one trajectory fall with the one
   * before them, so that they may be planned on one another before the store has them; those of two do not.
   */
  awaited(name: PartitionName, trajectoryId: string): Promise<void> | undefined {
    const sent = this.#sent.get(keyOf(name));
    return sent === undefined || sent.trajectoryId === trajectoryId ? undefined : sent.settled;
  }

  async read(name: PartitionName, claims: readonly string[]): Promise<void> {
    const found = new Map<string, boolean>();
    for (const claim of claims) {
      const { space, subject, predicate } = name;
      const rows = await this.#store.facts({ space, subject, predicate, kind: 'all', lineage: claim, limit: 1 });
      found.set(claim, rows.length > 0);
    }
    const key = keyOf(name);
    const before = this.#known.get(key);
    const state = before == null ? await this.#store.partition(name) : before.state;
    const without = claims.filter((claim) => found.get(claim) === false);
    if (state !== undefined && without.length > 0) {
      const merged = await this.#merged.of(name, state.names.hash);
      for (const claim of without) found.set(claim, merged.has(claim));
    }
    // What was accepted while it was read is ahead of that.
    const now = this.#known.get(key);
    const kept = now == null ? state : now.state;
    this.#known.set(key, { state: kept, claims: new Map([...found, ...(now?.claims ?? [])]) });
  }

  /** What the store has by now is another one: it is read again. What is on its way there is compared by the store itself. */
  async compare(name: PartitionName): Promise<void> {
    const key = keyOf(name);
    const known = this.#known.get(key);
    if (known == null || this.#sent.has(key)) return;
    const state = await this.#store.partition(name);
    const isSame = state?.version === known.state?.version && state?.names.hash === known.state?.names.hash;
    if (!isSame && this.#known.get(key) === known) this.#known.set(key, null);
  }

  /** They were accepted, and are on their way to the store. */
  accept(writes: readonly FactWrite[], trajectoryId: string): void {
    for (const write of writes) {
      const key = keyOf(write.partition);
      const sent = this.#sent.get(key) ?? sentBy(trajectoryId);
      sent.count++;
      this.#sent.set(key, sent);
      const before = this.#known.get(key);
      const claims = before?.claims ?? new Map<string, boolean>();
      for (const { lineage } of write.insert) claims.set(lineage, true);
      this.#known.set(key, { state: after(before?.state, write), claims });
    }
  }

  /** Claims of what was accepted that have no row. */
  made(name: PartitionName, claims: readonly string[]): void {
    const known = this.#known.get(keyOf(name));
    for (const claim of claims) known?.claims.set(claim, true);
  }

  /** The store has answered, whatever it did. */
  settled(writes: readonly FactWrite[]): void {
    for (const { partition } of writes) {
      const key = keyOf(partition);
      const sent = this.#sent.get(key)!;
      sent.count--;
      if (sent.count > 0) continue;
      this.#sent.delete(key);
      sent.settle();
      // The store has them now, and is asked again.
      const known = this.#known.get(key);
      if (known != null && known.claims.size > CLAIMS_MAX) known.claims.clear();
    }
  }

  /** They did not come to be, or what they were planned on is not so any more. */
  forget(writes: readonly FactWrite[]): void {
    for (const { partition } of writes) this.#known.set(keyOf(partition), null);
  }
}

/** Changes of one trajectory that the store has not answered yet. */
interface Sent {
  readonly trajectoryId: string;
  readonly settled: Promise<void>;
  readonly settle: () => void;
  count: number;
}

function sentBy(trajectoryId: string): Sent {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { trajectoryId, settled: promise, settle: resolve, count: 0 };
}

function keyOf({ space, subject, predicate }: PartitionName): string {
  return JSON.stringify([space, subject, predicate]);
}

function after(before: PartitionState | undefined, { names, version, system_time, close, insert }: FactWrite) {
  const closed = new Set(close.map(({ fact_id, system_time_start }) => `${system_time_start} ${fact_id}`));
  const stay = (before?.open ?? []).filter((row) => !closed.has(`${row.system_time_start} ${row.fact_id}`));
  const open = [...stay, ...insert.filter(({ row_kind }) => row_kind === 'current')].sort(byValidTime);
  return { names, version, latest: system_time, open };
}

function byValidTime(a: FactVersion, b: FactVersion): number {
  return a.valid_from < b.valid_from ? -1 : a.valid_from > b.valid_from ? 1 : 0;
}
