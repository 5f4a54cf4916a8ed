import type { Instant } from '#canon';
import {
  type FactStore,
  type FactVersion,
  type FactWrite,
  type Hash,
  type LedgerStore,
  OPEN_END,
  type PartitionName,
  type PartitionState,
  readRow,
} from '#ledger';
import { factPages } from '../visible/fact-pages.ts';

/** Claims that are kept in memory, at most twice as many, and one partition's more; of others the rows are read again. */
const CLAIMS_MAX = 100_000;

/** What is known of one partition, up to a time. */
interface Made {
  /** Of the partition: another one may have its name once that was erased. */
  readonly names: Hash;
  readonly claims: Set<string>;
  /** Up to this version no claim is missing. */
  version: number;
  /** Where it is read on. */
  last: FactVersion | undefined;
}

/**
 * Claims that were made, by partition: those of its rows, and those that have none, because another one says the same: what the store has
 * names the entries that merged something, and they name the claims. What was read is kept, moves with what is accepted, and is read on
 * where others went on. No store finds a claim but by looking at all that its partition has, which whoever says one thing after the other of
 * a long history would have it do each time.
 */
export class MadeClaims {
  readonly #store: LedgerStore & FactStore;
  /** What is not asked for until the next generation is full goes with it. */
  #young: Map<string, Made> = new Map();
  #old: Map<string, Made> = new Map();
  /** Of the young. */
  #claims = 0;

  constructor(store: LedgerStore & FactStore) {
    this.#store = store;
  }

  /** Those of a partition that was changed by then, in the state that it has here. @throws LedgerFault */
  async of(
    name: PartitionName,
    { names, version }: Pick<PartitionState, 'names' | 'version'>,
    until: Instant = OPEN_END,
  ): Promise<ReadonlySet<string>> {
    const key = keyOf(name, until);
    const known = this.#find(key);
    const made =
      known?.names === names.hash
        ? known
        : { names: names.hash, claims: new Set<string>(), version: 0, last: undefined };
    this.#keep(key, made);
    if (made.version < version) await this.#readOn(name, made, until);
    return made.claims;
  }

  /** What was accepted, where all that was before is known. */
  accept({ partition, names, version, insert }: FactWrite): void {
    const made = this.#find(keyOf(partition, OPEN_END));
    if (made?.names !== names.hash || made.version !== version - 1) return;
    for (const { lineage } of insert) this.#add(made, lineage);
    made.version = version;
  }

  /** Those of what was accepted that have no row. */
  merged(name: PartitionName, claims: readonly string[]): void {
    const made = this.#find(keyOf(name, OPEN_END));
    if (made !== undefined) for (const claim of claims) this.#add(made, claim);
  }

  /** What was accepted there did not come to be. */
  forget(name: PartitionName): void {
    const key = keyOf(name, OPEN_END);
    this.#young.delete(key);
    this.#old.delete(key);
  }

  async #readOn({ space, subject, predicate, branch }: PartitionName, made: Made, until: Instant): Promise<void> {
    const memory = { space, ...(branch !== undefined && { branch }) };
    const { last: after } = made;
    const query = { ...memory, subject, predicate, kind: 'all', ...(after && { after }) } as const;
    for await (const page of factPages(this.#store, query)) {
      const rows = page.filter((row) => row.system_time_start <= until);
      for (const { lineage } of rows) this.#add(made, lineage);
      const entries = new Set(rows.filter(isOfSeveral).map(({ entry_id }) => entry_id));
      for (const id of entries) for (const claim of await this.#mergedBy(id, made.names)) this.#add(made, claim);
      const last = page.at(-1)!;
      // Nothing of what it says.
      made.last = { ...last, object: '' };
      // Pages come in the order of versions, whose number each row has.
      made.version = Math.max(made.version, last.seq - 1);
    }
    if (made.last !== undefined) made.version = Math.max(made.version, made.last.seq);
  }

  async #mergedBy(entryId: Hash, names: Hash): Promise<readonly string[]> {
    const row = await this.#store.resolve(entryId);
    const payload = row && readRow(row).payload;
    if (payload?.kind !== 'commit') return [];
    return payload.delta.beliefs.flatMap(({ partition, merged = [] }) => (partition.$blob === names ? merged : []));
  }

  #find(key: string): Made | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  #keep(key: string, made: Made): void {
    if (this.#young.get(key) === made) return;
    if (this.#claims >= CLAIMS_MAX) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#claims = 0;
    }
    this.#young.set(key, made);
    this.#claims += 1 + made.claims.size;
  }

  #add(made: Made, claim: string): void {
    if (made.claims.has(claim)) return;
    made.claims.add(claim);
    this.#claims += 1;
  }
}

function keyOf({ space, subject, predicate, branch }: PartitionName, until: Instant): string {
  return JSON.stringify([space, subject, predicate, branch, until]);
}

/** Whether more than one write says it: nobody merges a claim without adding its provenance. */
function isOfSeveral({ provenance_id }: FactVersion): boolean {
  return provenance_id.includes(' + ');
}
