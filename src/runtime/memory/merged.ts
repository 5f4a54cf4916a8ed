import { type Instant, RecentMap } from '#canon';
import {
  type FactStore,
  type FactVersion,
  type Hash,
  type LedgerStore,
  OPEN_END,
  type PartitionName,
  readRow,
} from '#ledger';
import { factPages } from './fact-pages.ts';

/** Partitions whose merged claims are kept in memory; more only cost reading their entries again. */
const PARTITIONS_MAX = 1_024;

interface Read {
  /** Of the partition: another one may have its name once that was erased. */
  readonly names: Hash;
  readonly claims: Set<string>;
  readonly last: FactVersion | undefined;
}

/**
 * Claims that have no row, because another one says the same: what the store has names the entries that merged something, and they name the
 * claims. What was read of a partition is kept, and from then on only what came later is.
 */
export class Merged {
  readonly #store: LedgerStore & FactStore;
  readonly #read: RecentMap<string, Read> = new RecentMap(PARTITIONS_MAX);

  constructor(store: LedgerStore & FactStore) {
    this.#store = store;
  }

  /** Those of a partition that the store has, of what was changed by then. @throws LedgerFault */
  async of(
    { space, subject, predicate, branch }: PartitionName,
    names: Hash,
    until: Instant = OPEN_END,
  ): Promise<ReadonlySet<string>> {
    const key = JSON.stringify([space, subject, predicate, branch, until]);
    const before = this.#read.get(key);
    const claims = new Set(before?.names === names ? before.claims : []);
    let last = before?.names === names ? before.last : undefined;
    const memory = { space, ...(branch !== undefined && { branch }) };
    const query = { ...memory, subject, predicate, kind: 'all', ...(last && { after: last }) } as const;
    for await (const page of factPages(this.#store, query)) {
      const entries = new Set(
        page
          .filter(isOfSeveral)
          .filter((row) => row.system_time_start <= until)
          .map(({ entry_id }) => entry_id),
      );
      for (const id of entries) for (const claim of await this.#mergedBy(id, names)) claims.add(claim);
      last = page.at(-1);
    }
    this.#read.set(key, { names, claims, last });
    return claims;
  }

  async #mergedBy(entryId: Hash, names: Hash): Promise<readonly string[]> {
    const row = await this.#store.resolve(entryId);
    const payload = row && readRow(row).payload;
    if (payload?.kind !== 'commit') return [];
    return payload.delta.beliefs.flatMap(({ partition, merged = [] }) => (partition.$blob === names ? merged : []));
  }
}

/** Whether more than one write says it: nobody merges a claim without adding its provenance. */
function isOfSeveral({ provenance_id }: FactVersion): boolean {
  return provenance_id.includes(' + ');
}
