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

/**
 * Number of cached claims, at most twice as many, plus those of one partition. Rows of other
 * partitions are read again.
 */
const CLAIMS_MAX = 100_000;

/** The known claims of one partition, up to a version. */
interface CachedClaims {
  /** The partition's names: after an erasure another partition may have the same name. */
  readonly names: Hash;
  readonly claims: Set<string>;
  /** Up to this version no claim is missing. */
  version: number;
  /** The row after which reading continues. */
  last: FactVersion | undefined;
}

/**
 * The claims that were made, by partition. Claims have their own rows, or none if another row has
 * the same fact; the store then names the entries that merged claims, and those entries name the
 * claims. Read claims are cached, updated with accepted changes, and read on after foreign changes.
 * A store finds a claim only by scanning its whole partition. Without the cache, a series of
 * statements on a long history would scan it each time.
 */
export class ClaimCache {
  readonly #store: LedgerStore & FactStore;
  /** Claims that are not used until the next generation is full are evicted with this one. */
  #young: Map<string, CachedClaims> = new Map();
  #old: Map<string, CachedClaims> = new Map();
  /** The number in the young generation. */
  #claims = 0;

  constructor(store: LedgerStore & FactStore) {
    this.#store = store;
  }

  /**
   * The claims of a partition. Its state here includes all changes so far.
   * @throws LedgerFault
   */
  async load(
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

  /** Adds an accepted change, if all earlier claims are known. */
  accept({ partition, names, version, insert }: FactWrite): void {
    const made = this.#find(keyOf(partition, OPEN_END));
    if (made?.names !== names.hash || made.version !== version - 1) return;
    for (const { lineage } of insert) this.#add(made, lineage);
    made.version = version;
  }

  /** The accepted claims that have no row. */
  merged(name: PartitionName, claims: readonly string[]): void {
    const made = this.#find(keyOf(name, OPEN_END));
    if (made !== undefined) for (const claim of claims) this.#add(made, claim);
  }

  /** The accepted changes of the partition were not committed. */
  evict(name: PartitionName): void {
    const key = keyOf(name, OPEN_END);
    this.#young.delete(key);
    this.#old.delete(key);
  }

  async #readOn(
    { space, subject, predicate, branch }: PartitionName,
    made: CachedClaims,
    until: Instant,
  ): Promise<void> {
    const memory = { space, ...(branch !== undefined && { branch }) };
    const { last: after } = made;
    const query = { ...memory, subject, predicate, kind: 'all', ...(after && { after }) } as const;
    for await (const page of factPages(this.#store, query)) {
      const rows = page.filter((row) => row.system_time_start <= until);
      for (const { lineage } of rows) this.#add(made, lineage);
      const entries = new Set(rows.filter(isOfSeveral).map(({ entry_id }) => entry_id));
      for (const id of entries)
        for (const claim of await this.#mergedBy(id, made.names)) this.#add(made, claim);
      const last = page.at(-1)!;
      // Without its object.
      made.last = { ...last, object: '' };
      // Pages come in the order of versions. Each row has the number of its version.
      made.version = Math.max(made.version, last.seq - 1);
    }
    if (made.last !== undefined) made.version = Math.max(made.version, made.last.seq);
  }

  async #mergedBy(entryId: Hash, names: Hash): Promise<readonly string[]> {
    const row = await this.#store.resolve(entryId);
    const payload = row && readRow(row).payload;
    if (payload?.kind !== 'commit') return [];
    return payload.delta.beliefs.flatMap(({ partition, merged = [] }) =>
      partition.$blob === names ? merged : [],
    );
  }

  #find(key: string): CachedClaims | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  #keep(key: string, made: CachedClaims): void {
    if (this.#young.get(key) === made) return;
    if (this.#claims >= CLAIMS_MAX) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#claims = 0;
    }
    this.#young.set(key, made);
    this.#claims += 1 + made.claims.size;
  }

  #add(made: CachedClaims, claim: string): void {
    if (made.claims.has(claim)) return;
    made.claims.add(claim);
    this.#claims += 1;
  }
}

function keyOf({ space, subject, predicate, branch }: PartitionName, until: Instant): string {
  return JSON.stringify([space, subject, predicate, branch, until]);
}

/** Whether more than one write has it: merging a claim always adds its provenance. */
function isOfSeveral({ provenance_id }: FactVersion): boolean {
  return provenance_id.includes(' + ');
}
