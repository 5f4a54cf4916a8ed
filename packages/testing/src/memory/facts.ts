import type {
  BranchPartition,
  BranchPartitionQuery,
  ContentRef,
  ErasedRow,
  FactHit,
  FactKey,
  FactQuery,
  FactText,
  FactTextQuery,
  FactVector,
  FactVectorQuery,
  FactVersion,
  FactWrite,
  Hash,
  PartitionName,
  PartitionState,
  RankedQuery,
} from 'assize/internal/ledger';
import { OPEN_END, type OpenKey, OpenSet } from 'assize/internal/memory';
import type { StoreError } from 'assize/internal/stores/errors.ts';
import {
  brokenOrder,
  changeOpen,
  compareCodePoints,
  compareRows,
  erasedName,
  erasedText,
  type FactChange,
  type FactState,
  type FactVerdict,
  type FactView,
  factKey,
  incompleteError,
  judgeFacts,
  nameKey,
  nameOf,
} from 'assize/internal/stores/facts.ts';
import { MemoryTexts, type TextHome } from './texts.ts';

type Names = Pick<PartitionName, 'subject' | 'predicate'>;

interface Partition extends FactState, TextHome {
  readonly name: PartitionName;
  readonly names: ContentRef;
  version: number;
  latest: string;
  readonly open: OpenSet<OpenKey>;
  /** By `factKey`. */
  readonly rows: Map<string, FactVersion>;
}

/** The facts of a store in memory. */
export class MemoryFacts implements FactView {
  readonly isErased: (hash: Hash) => boolean;
  readonly #partitions = new Map<string, Partition>();
  /** The keys of all versions of all partitions, with the space. */
  readonly #versions = new Set<string>();
  readonly #texts = new MemoryTexts();
  /** The rebuild that is in progress, or was interrupted. */
  #rebuilding: object | undefined;
  /** Whether entries were appended without their facts. */
  #areAwaited = false;

  /** `isErased`: whether the store has erased a blob. */
  constructor(isErased: (hash: Hash) => boolean) {
    this.isErased = isErased;
  }

  /** Writes nothing. @throws {StoreError} for misuse, and while the facts are incomplete */
  judge(writes: readonly FactWrite[]): FactVerdict {
    this.requireComplete();
    return judgeFacts(writes, this);
  }

  /** Writes the changes that were checked last. Nothing may have been written since that check. */
  write(changes: readonly FactChange[]): void {
    for (const change of changes) {
      const { partition, names, version, system_time, close, insert, since } = change;
      const there = this.#find(partition) ?? this.#begin(partition, names, since);
      changeOpen(there.open, change);
      there.version = version;
      there.latest = system_time;
      for (const key of close) {
        const row = there.rows.get(factKey(key))!;
        there.rows.set(factKey(key), Object.freeze({ ...row, system_time_end: system_time }));
      }
      for (const row of insert) {
        there.rows.set(factKey(row), row);
        this.#texts.add(there, row);
        this.#versions.add(versionKey(partition, row));
      }
    }
  }

  /** Replaces erased values in every version. */
  erase(erased: readonly ErasedRow[]): void {
    const hashes = new Set(erased.map(({ hash }) => hash));
    this.#texts.erase(hashes);
    for (const partition of [...this.#partitions.values()]) {
      const name = hashes.has(partition.names.hash)
        ? erasedName(partition.names.hash)
        : partition.name;
      for (const [key, row] of partition.rows) {
        const object = hashes.has(row.content.hash) ? erasedText(row.content.hash) : row.object;
        const { branch: _, ...nameless } = row;
        const named = name === partition.name ? row : { ...nameless, ...name };
        partition.rows.set(key, Object.freeze({ ...named, object }));
      }
      if (name === partition.name) continue;
      this.#partitions.delete(nameKey(partition.name));
      this.#partitions.set(nameKey(name), { ...partition, name, since: undefined });
      for (const row of partition.rows.values()) {
        this.#versions.delete(versionKey(partition.name, row));
        this.#versions.add(versionKey(name, row));
      }
    }
  }

  partition(name: PartitionName): FactState | undefined {
    return this.#find(name);
  }

  has(name: PartitionName, key: FactKey): boolean {
    return this.#versions.has(versionKey(name, key));
  }

  /** Same as `FactStore.partition`. */
  state(name: PartitionName): PartitionState | undefined {
    this.requireComplete();
    const found = this.#find(name);
    if (found === undefined) return undefined;
    const open = Array.from(found.open, (key) => found.rows.get(factKey(key))!);
    const { names, version, latest, since } = found;
    return {
      names,
      version,
      latest,
      open: open.sort(byValidTime),
      ...(since !== undefined && { since }),
    };
  }

  /** Same as `FactStore.facts`, with the defaults filled in. */
  query(query: FactQuery & { readonly limit: number }): FactVersion[] {
    this.requireComplete();
    const { space, branch, subject, predicate, after, limit } = query;
    const partitions =
      subject !== undefined && predicate !== undefined
        ? [
            this.#find(
              nameOf({ space, subject, predicate, ...(branch !== undefined && { branch }) }),
            ),
          ].filter((each) => each !== undefined)
        : [...this.#partitions.values()].filter(
            ({ name }) =>
              name.space === space &&
              name.branch === branch &&
              (subject === undefined || name.subject === subject) &&
              (predicate === undefined || name.predicate === predicate),
          );
    const found = partitions.flatMap(({ rows }) =>
      [...rows.values()].filter((row) => isAsked(row, query)),
    );
    const rest = after === undefined ? found : found.filter((row) => compareRows(row, after) > 0);
    return rest.sort(compareRows).slice(0, limit);
  }

  /** Same as `FactStore.factsByText`, with the defaults filled in. */
  byText(query: FactTextQuery & { readonly limit: number }): FactHit[] {
    this.requireComplete();
    return this.#texts.byText(
      query.space,
      query.text,
      (row) => isNamed(row, query) && isAsked(row, query),
      query.limit,
    );
  }

  /** Same as `FactStore.factsByVector`. @throws {StoreError} for a vector of other dimensions */
  byVector(query: FactVectorQuery & { readonly limit: number }): FactHit[] {
    this.requireComplete();
    return this.#texts.byVector(
      query,
      (row) => isNamed(row, query) && isAsked(row, query),
      query.limit,
    );
  }

  /** Same as `FactStore.textsToEmbed`. */
  toEmbed(embedder: string, space: string, limit: number): FactText[] {
    this.requireComplete();
    return this.#texts.toEmbed(embedder, space, limit);
  }

  /** Same as `FactStore.putVectors`. @throws {StoreError} for vectors of other dimensions */
  putVectors(embedder: string, vectors: readonly FactVector[]): void {
    this.#texts.putVectors(embedder, vectors);
  }

  spaces(): string[] {
    this.requireComplete();
    const shared = [...this.#partitions.values()].filter(({ name }) => name.branch === undefined);
    return [...new Set(shared.map(({ name }) => name.space))].sort(compareCodePoints);
  }

  branches(): { space: string; branch: string }[] {
    this.requireComplete();
    const found = new Map<string, { space: string; branch: string }>();
    for (const {
      name: { space, branch },
    } of this.#partitions.values())
      if (branch !== undefined) found.set(JSON.stringify([space, branch]), { space, branch });
    return [...found.values()].sort(
      (a, b) => compareCodePoints(a.space, b.space) || compareCodePoints(a.branch, b.branch),
    );
  }

  /** Same as `FactStore.branchPartitions`, with the defaults filled in. */
  branchPartitions(query: BranchPartitionQuery & { readonly limit: number }): BranchPartition[] {
    this.requireComplete();
    const { space, branch, subject, predicate, after, limit } = query;
    const byNames = (a: Names, b: Names): number =>
      compareCodePoints(a.subject, b.subject) || compareCodePoints(a.predicate, b.predicate);
    return [...this.#partitions.values()]
      .filter(({ name }) => name.space === space && name.branch === branch)
      .filter(({ name }) => subject === undefined || name.subject === subject)
      .filter(({ name }) => predicate === undefined || name.predicate === predicate)
      .filter(({ name }) => after === undefined || byNames(name, after) > 0)
      .map(({ name, since }) => ({ ...name, branch, since: since! }))
      .sort(byNames)
      .slice(0, limit);
  }

  /** Deletes all facts. Returns the identity of the rebuild that starts with this call. */
  beginRebuilding(): object {
    this.#partitions.clear();
    this.#versions.clear();
    this.#texts.clear();
    this.#areAwaited = false;
    this.#rebuilding = {};
    return this.#rebuilding;
  }

  /** @throws {StoreError} for misuse, and if another rebuild has started */
  takeIn(writes: readonly FactWrite[], rebuilding: object): void {
    this.#requireMine(rebuilding);
    for (const write of writes) {
      const verdict = judgeFacts([write], this);
      if ('refusal' in verdict) throw brokenOrder(write);
      this.write(verdict.changes);
    }
  }

  endRebuilding(rebuilding: object): void {
    this.#requireMine(rebuilding);
    this.#rebuilding = undefined;
  }

  /** Marks the facts as incomplete. The facts themselves stay as they are. */
  await(): void {
    this.#areAwaited = true;
  }

  /** Same as `FactStore.keepFacts`. */
  keep(): boolean {
    if (this.#rebuilding === undefined && this.#partitions.size > 0) this.#areAwaited = false;
    return this.#isComplete;
  }

  requireComplete(): void {
    if (!this.#isComplete) throw incomplete();
  }

  get #isComplete(): boolean {
    return this.#rebuilding === undefined && !this.#areAwaited;
  }

  #requireMine(rebuilding: object): void {
    if (this.#rebuilding !== rebuilding) throw incomplete();
  }

  #find(name: PartitionName): Partition | undefined {
    return this.#partitions.get(nameKey(name));
  }

  #begin(name: PartitionName, { hash, bytes }: ContentRef, since: string | undefined): Partition {
    const names = Object.freeze({ hash, bytes });
    const begun: Partition = {
      name: nameOf(name),
      names,
      since,
      version: 0,
      latest: '',
      open: new OpenSet(),
      rows: new Map(),
    };
    this.#partitions.set(nameKey(name), begun);
    return begun;
  }
}

function isNamed(row: FactVersion, { branch, subject, predicate }: RankedQuery): boolean {
  return (
    row.branch === branch &&
    (subject === undefined || row.subject === subject) &&
    (predicate === undefined || row.predicate === predicate)
  );
}

function isAsked(
  row: FactVersion,
  { kind = 'current', valid, system, lineage }: FactQuery,
): boolean {
  return (
    (kind === 'all' || row.row_kind === kind) &&
    (valid === undefined || (row.valid_from <= valid && valid < row.valid_to)) &&
    (system === undefined ||
      (system === 'now'
        ? row.system_time_end === OPEN_END
        : row.system_time_start <= system && system < row.system_time_end)) &&
    (lineage === undefined || row.lineage === lineage)
  );
}

function byValidTime(a: FactVersion, b: FactVersion): number {
  return (
    compareCodePoints(a.valid_from, b.valid_from) ||
    compareCodePoints(a.fact_id, b.fact_id) ||
    compareCodePoints(a.system_time_start, b.system_time_start)
  );
}

function versionKey({ space, branch }: PartitionName, key: FactKey): string {
  return JSON.stringify([factKey(key), space, branch]);
}

function incomplete(): StoreError {
  return incompleteError('this in-memory store');
}
