import { createHash } from 'node:crypto';
import type {
  ErasedRow,
  FactKey,
  FactVersion,
  FactWrite,
  Hash,
  PartitionName,
  PartitionRead,
} from 'assize/internal/ledger';
import { OPEN_START, type OpenKey, OpenSet } from 'assize/internal/memory';
import {
  changeOpen,
  erasedName,
  type FactChange,
  type FactVerdict,
  type FactView,
  factKey,
  incompleteError,
  judgeFacts,
  nameKey,
  nameOf,
} from 'assize/internal/stores/facts.ts';
import { bytea, composite } from '../connection/row.ts';
import type { Session, Statement } from '../connection/session.ts';
import type { PartitionCache, PartitionFacts } from './partition-cache.ts';
import { textRows } from './text-rows.ts';

/** The result of `fact_states`, by which changes are checked. */
interface States {
  readonly whole: boolean;
  readonly run: number;
  readonly parts: number;
  readonly erased: readonly Hash[] | null;
  /** The indexes of the existing versions, from 1. */
  readonly versions: readonly number[] | null;
  readonly partitions:
    | readonly (readonly [
        hash: string,
        names: Hash,
        bytes: number,
        version: number,
        latest: string,
        several: boolean,
        since: string,
        open: readonly (readonly [string, string, string, string])[] | null,
      ])[]
    | null;
}

/** The state of a partition, now or after the group is written. */
interface GroupPartition extends PartitionFacts {
  /** The rows to write; undefined if the group does not change the partition. */
  readonly target?: Target;
}

/** All changes of one partition by a group. */
interface Target {
  readonly hash: string;
  readonly name: PartitionName;
  readonly before: number;
  readonly close: (OpenKey & { readonly until: string })[];
  readonly insert: FactVersion[];
  readonly open: OpenSet<OpenKey>;
}

/** The initial state of a plan. */
interface PlanStart {
  readonly isAssumed: boolean;
  readonly whole: boolean;
  readonly run: number;
  readonly parts: number;
  readonly erased: Set<Hash>;
  readonly versions: Set<string>;
  /** By `nameKey`. */
  readonly partitions: Map<string, GroupPartition>;
}

/**
 * The facts of a group. Each change is checked against the state that the server has reported, now
 * or earlier, and against the group's earlier changes. The server writes the changes if every
 * version is still the same.
 */
export class FactPlan implements FactView {
  /** Whether the state comes from the cache. The server must confirm a refusal of such a plan. */
  readonly isAssumed: boolean;
  /** The rebuild that started last. */
  readonly run: number;
  /** The number of parts of the rebuild that are written. */
  readonly parts: number;
  readonly #path: string;
  readonly #whole: boolean;
  readonly #erased: Set<Hash>;
  readonly #versions: Set<string>;
  readonly #partitions: Map<string, GroupPartition>;
  /** Repeated texts that the plan assumes not to be erased. The server checks the assumption. */
  readonly #present = new Set<Hash>();
  /** The partitions that changes were planned on, by their hashes. */
  readonly #reads = new Map<string, PartitionRead>();
  readonly #targets = new Set<Target>();

  private constructor(
    path: string,
    { isAssumed, whole, run, parts, erased, versions, partitions }: PlanStart,
  ) {
    this.#path = path;
    this.isAssumed = isAssumed;
    this.#whole = whole;
    this.run = run;
    this.parts = parts;
    this.#erased = erased;
    this.#versions = versions;
    this.#partitions = partitions;
  }

  /**
   * A plan without a call to the server, from the cached state of every partition that the writes
   * change or were planned on. Undefined if a partition is not cached.
   *
   * The plan also assumes that no text is erased, that no new version exists, and that the facts
   * are complete. The server checks these assumptions. `path` names the store in errors.
   */
  static assumed(
    writes: readonly FactWrite[],
    known: PartitionCache,
    path: string,
  ): FactPlan | undefined {
    const { run = 0 } = known;
    const remembered = known.take(writes.flatMap(partitionsOf));
    if (remembered === undefined) return undefined;
    const partitions = new Map<string, GroupPartition>();
    for (const [name, state] of remembered)
      if (state !== undefined) partitions.set(nameKey(name), state);
    const nothing = { erased: new Set<Hash>(), versions: new Set<string>() };
    return new FactPlan(path, {
      isAssumed: writes.length > 0,
      whole: true,
      run,
      parts: 0,
      ...nothing,
      partitions,
    });
  }

  /**
   * A plan from the server's state, including the erased texts. `path` names the store in errors.
   */
  static async asked(
    {
      writes,
      repeats,
    }: { readonly writes: readonly FactWrite[]; readonly repeats: readonly Hash[] },
    session: Session,
    statement: Statement,
    path: string,
  ): Promise<FactPlan> {
    const names = writes.flatMap((write) => [...partitionsOf(write), erasedName(write.names.hash)]);
    const candidates = new Map(names.map((name) => [hashOf(name), name]));
    const hashes = new Set([
      ...repeats,
      ...writes.flatMap(({ names, insert, inherit, repeats = [] }) => [
        names.hash,
        ...[...insert, ...(inherit?.rows ?? [])].map(({ content }) => content.hash),
        ...repeats,
      ]),
    ]);
    // Under the name in the write, and under the erased name in case the names were erased.
    const rows = writes.flatMap(({ insert, inherit, names, partition }) =>
      [...insert, ...(inherit?.rows ?? [])].flatMap((row) =>
        [partition, erasedName(names.hash)].map((name) => ({ row, name })),
      ),
    );
    const values = [
      [...candidates.keys()].map(bytea),
      [...hashes].map(bytea),
      rows.map(({ row }) => row.fact_id),
      rows.map(({ row }) => row.system_time_start),
      rows.map(({ name }) => name.space),
      rows.map(({ name }) => name.branch ?? ''),
    ];
    const [reply] = await session.run(statement, values);
    const { whole, run, parts, erased, versions, partitions } = JSON.parse(reply![0]!) as States;
    const there = (versions ?? []).map((n) => rows[n - 1]!);
    return new FactPlan(path, {
      isAssumed: false,
      whole,
      run,
      parts,
      erased: new Set(erased),
      versions: new Set(there.map(({ row, name }) => versionKey(name, row))),
      partitions: new Map(
        (partitions ?? []).map((row) => {
          const name = candidates.get(row[0])!;
          return [nameKey(name), stateOf(row, name)];
        }),
      ),
    });
  }

  /** Whether the plan writes no facts. */
  get isEmpty(): boolean {
    return this.#targets.size === 0;
  }

  /** @throws {StoreError} for misuse, and while the facts are incomplete */
  judge(writes: readonly FactWrite[]): FactVerdict {
    if (!this.#whole) throw incompleteError(this.#path);
    return judgeFacts(writes, this);
  }

  /**
   * Call this with the changes that were checked last. In a rebuild the facts can be incomplete.
   */
  accept(changes: readonly FactChange[]): void {
    for (const change of changes) this.#accept(change);
  }

  /** Call this after the write. It caches the server's new state. */
  committed(known: PartitionCache): void {
    if (this.#erased.size > 0) {
      known.clear();
      return;
    }
    for (const {
      names,
      version,
      latest,
      several,
      since,
      open,
      target,
    } of this.#partitions.values())
      if (target !== undefined)
        known.set(this.run, target.name, { names, version, latest, several, since, open });
    // The partitions that it was planned on are also known, if they stay unchanged.
    for (const { partition: name } of this.#reads.values())
      if (this.partition(name)?.target === undefined)
        known.set(this.run, name, this.partition(name));
  }

  /**
   * Call this after the facts of the erasing batch. Afterwards no batch of the group changes facts.
   */
  erase(erased: readonly ErasedRow[]): void {
    for (const { hash } of erased) this.#erased.add(hash);
  }

  isErased(hash: Hash): boolean {
    return this.#erased.has(hash);
  }

  partition(name: PartitionName): GroupPartition | undefined {
    return this.#partitions.get(nameKey(name));
  }

  has(name: PartitionName, key: FactKey): boolean {
    return this.#versions.has(versionKey(name, key));
  }

  /** The rows to write, as the last parameters of `append_facts`. */
  values(): unknown[] {
    const targets = [...this.#targets];
    const changed = new Set(targets.map(({ hash }) => hash));
    const reads = [...this.#reads].filter(([hash]) => !changed.has(hash));
    const states = new Map([...this.#partitions.values()].map((known) => [known.target, known]));
    return [
      this.isAssumed ? this.run : null,
      [...this.#present].map(bytea),
      // In the order in which the server locks them.
      [
        ...targets.map(
          (target, index) =>
            [target.hash, partitionRow(index + 1, target, states.get(target)!)] as const,
        ),
        ...reads.map(
          ([hash, read], index) => [hash, readRow(targets.length + index + 1, hash, read)] as const,
        ),
      ]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, row]) => row),
      targets.flatMap(({ close }, index) => close.map((row) => closeRow(index + 1, row))),
      targets.flatMap(({ name, insert }, index) =>
        insert.map((row) => insertRow(index + 1, name, row)),
      ),
      targets.flatMap(({ insert }, index) => textRows(index + 1, insert)),
    ];
  }

  #accept(change: FactChange): void {
    const { partition, names, version, system_time, close, insert, since } = change;
    const before = change.before as GroupPartition | undefined;
    const target: Target = before?.target ?? {
      hash: hashOf(partition),
      name: nameOf(partition),
      before: before?.version ?? 0,
      close: [],
      insert: [],
      open: before?.open ?? new OpenSet(),
    };
    this.#targets.add(target);
    for (const row of close) {
      const at = target.insert.findIndex(
        (each) => factKey(each) === factKey(row) && each.row_kind === 'current',
      );
      if (at === -1) target.close.push({ ...row, until: system_time });
      else target.insert[at] = { ...target.insert[at]!, system_time_end: system_time };
    }
    for (const row of insert) {
      target.insert.push(row);
      this.#versions.add(versionKey(partition, row));
      if (!this.isErased(row.content.hash)) this.#present.add(row.content.hash);
    }
    if (!this.isErased(names.hash)) this.#present.add(names.hash);
    for (const hash of change.repeats) this.#present.add(hash);
    for (const read of change.reads) this.#reads.set(hashOf(read.partition), read);
    const several =
      before?.several === true || insert.some((row) => row.cardinality !== 'single-valued');
    changeOpen(target.open, change);
    this.#partitions.set(nameKey(partition), {
      names,
      version,
      latest: system_time,
      several,
      since,
      open: target.open,
      target,
    });
  }
}

function stateOf(
  [, hash, bytes, version, latest, several, told, open]: NonNullable<States['partitions']>[number],
  { branch }: PartitionName,
): GroupPartition {
  const rows = (open ?? []).map(([fact_id, system_time_start, valid_from, valid_to]) => ({
    fact_id,
    system_time_start,
    valid_from,
    valid_to,
  }));
  const since = branch === undefined ? undefined : told;
  return { names: { hash, bytes }, version, latest, several, since, open: new OpenSet(rows) };
}

/**
 * All partitions that a write is checked against, except the name of a partition with erased names.
 */
export function partitionsOf({ partition, reads = [] }: FactWrite): PartitionName[] {
  return [partition, ...reads.map((read) => read.partition)];
}

/** The key of a partition. */
export function hashOf(name: PartitionName): string {
  return createHash('sha256').update(nameKey(name)).digest('hex');
}

/** The call that returns the state for checks. */
export function prepareFactStates(schema: string): Statement {
  return {
    name: 'assize fact states',
    text: `SELECT "${schema}".fact_states($1, $2, $3, $4, $5, $6)`,
  };
}

function partitionRow(
  n: number,
  { hash, name: { space, branch = '', subject, predicate }, before }: Target,
  { names, version, latest, several, since = OPEN_START }: GroupPartition,
): string {
  const state = [names.hash, names.bytes, version, latest, several, since];
  return composite([n, hash, before, space, branch, subject, predicate, ...state]);
}

/**
 * A row for a partition that must be unchanged. A missing partition is in the table as this row
 * until the call ends.
 */
function readRow(n: number, hash: string, { partition, version }: PartitionRead): string {
  const { space, branch = '', subject, predicate } = partition;
  return composite([
    n,
    hash,
    version,
    space,
    branch,
    subject,
    predicate,
    hash,
    0,
    version,
    OPEN_START,
    false,
    OPEN_START,
  ]);
}

function closeRow(
  n: number,
  { fact_id, system_time_start, valid_from, until }: Target['close'][number],
): string {
  return composite([n, fact_id, system_time_start, valid_from, until]);
}

function insertRow(n: number, { space, branch = '' }: PartitionName, row: FactVersion): string {
  return composite([
    n,
    space,
    branch,
    row.row_kind === 'audit',
    row.system_time_start,
    row.system_time_end,
    row.valid_from,
    row.valid_to,
    row.fact_id,
    row.content.hash,
    row.content.bytes,
    row.confidence,
    row.seq,
    row.asserted_seq,
    row.asserted_from,
    row.cardinality === 'single-valued',
    row.resolution_strategy_id,
    row.entry_id,
    row.lineage,
    row.resolution_id,
    row.provenance_id,
    row.object,
  ]);
}

function versionKey({ space, branch }: PartitionName, key: FactKey): string {
  return JSON.stringify([factKey(key), space, branch]);
}
