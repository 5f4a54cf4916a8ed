import { arg, checkArgument } from '#base';
import { hashText, plainText } from '#canon';
import {
  type FactStore,
  type FactVersion,
  type FactWrite,
  type Hash,
  type Instant,
  type LedgerStore,
  OPEN_END,
  OPEN_START,
  type PartitionName,
  type PartitionState,
  type TrajectoryInfo,
} from '#ledger';
import { factPages } from '../visible/fact-pages.ts';
import { recordedChanges } from './from-entries.ts';
import { type ReadPosition, UnverifiedChanges } from './unverified.ts';

/** A difference between the facts of a store and its ledger. */
export interface FactDifference extends PartitionName {
  /**
   * `missing`: the store lacks a version of a fact. `unexpected`: it has a version that no entry
   * records. `other`: its version differs from the entry. `partition`: its rows are right, but the
   * start of the next change is not. Or it has a version that no entry made, not even one of the
   * entries that were not to be read.
   */
  readonly kind: 'missing' | 'unexpected' | 'other' | 'partition';
  readonly fact_id?: string;
  readonly system_time_start?: Instant;
}

export interface MemoryReport {
  readonly valid: boolean;
  /** Versions of facts according to the ledger. */
  readonly facts: number;
  readonly partitions: number;
  /** Partitions that changed during the comparison, and are left out. */
  readonly changedMeanwhile: number;
  /**
   * Partitions that unread entries have changed. They are left out, because their content is
   * unknown.
   */
  readonly unverified: number;
  /** At most 100 of them. */
  readonly unverifiedPartitions: readonly UnverifiedPartition[];
  /** At most 100. */
  readonly differences: readonly FactDifference[];
  /** The number of differences that are not listed. */
  readonly more: number;
}

/** A partition that was not compared. */
export interface UnverifiedPartition extends PartitionName {
  /** The version in the store. */
  readonly version: number;
  /** The version according to the read entries; 0 if none of them has changed it. */
  readonly readTo: number;
}

export interface CheckMemoryOptions {
  /** Called with the number of entries read, and the total. */
  readonly onProgress?: (done: number, total: number) => void;
  /**
   * Trajectories with the number of entries that is read, because the following entries do not
   * verify.
   */
  readonly readOnly?: ReadonlyMap<string, number>;
}

const CHECK_OPTIONS = arg.options<CheckMemoryOptions>({
  onProgress: arg.any,
  readOnly: arg.optional(arg.of('a Map', (value) => value instanceof Map)),
});

const LISTED_MAX = 100;
/** Digits of the hash that distinguishes two rows. */
const DIGITS = 32;

/**
 * Compares the facts of a store with its ledger, and writes nothing. Keeps one hash per version of
 * a fact in memory.
 *
 * @throws LedgerFault, RuntimeError `invalid_ledger`; StoreError `store_facts_incomplete`;
 * ArgumentError `bad_argument`
 */
export async function checkMemory(
  store: LedgerStore & FactStore,
  options: CheckMemoryOptions = {},
): Promise<MemoryReport> {
  checkArgument(CHECK_OPTIONS, options, 'options');
  const { readOnly } = options;
  const trajectories = await store.trajectories();
  const keptBack: FactWrite[] = [];
  const expected = await expectedOf(store, trajectories, options, keptBack);
  const facts = [...expected.values()].reduce((sum, { rows }) => sum + rows.size, 0);
  const partitions = expected.size;
  const found = await differencesOf(store, expected);
  const unread = readOnly && (await UnverifiedChanges.of(store, trajectories, readOnly, keptBack));
  const grew = lengthOf(await store.trajectories()) > lengthOf(trajectories);
  const different: (readonly FactDifference[])[] = [];
  const unreadPartitions: UnverifiedPartition[] = [];
  let changedMeanwhile = 0;
  for (const { name, of } of found) {
    const live = await store.partition(name);
    const read = readToOf(expected.get(nameKey(name)), live);
    if (live === undefined || live.version <= read.version) different.push(of);
    else if (unread?.explain(read, live))
      unreadPartitions.push({ ...name, version: live.version, readTo: read.version });
    else if (grew) changedMeanwhile += 1;
    // The right rows cannot be determined without the unread entries.
    else if (unread !== undefined) different.push([{ kind: 'partition', ...name }]);
    else different.push(of);
  }
  const differences = different.flat();
  return {
    valid: differences.length === 0,
    facts,
    partitions,
    changedMeanwhile,
    unverified: unreadPartitions.length,
    unverifiedPartitions: unreadPartitions.slice(0, LISTED_MAX),
    differences: differences.slice(0, LISTED_MAX),
    more: Math.max(0, differences.length - LISTED_MAX),
  };
}

/** Only the store has the names of a partition that no read entry has changed. */
function readToOf(expected: Expected | undefined, live: PartitionState | undefined): ReadPosition {
  const { names = live?.names.hash ?? '', version = 0, latest = OPEN_START } = expected ?? {};
  return { names, version, latest };
}

/** A partition according to the ledger. */
interface Expected {
  readonly name: PartitionName;
  readonly names: Hash;
  /** For a branch's partition, as in `PartitionState`. */
  readonly since: Instant | undefined;
  version: number;
  latest: Instant;
  /** The versions still to be found in the store, by key. */
  readonly rows: Map<string, { readonly is: string; end: Instant }>;
}

interface StorePartition {
  readonly name: PartitionName;
  readonly of: readonly FactDifference[];
}

async function expectedOf(
  store: LedgerStore,
  trajectories: readonly TrajectoryInfo[],
  { onProgress, readOnly }: CheckMemoryOptions,
  keptBack: FactWrite[],
): Promise<Map<string, Expected>> {
  const read = trajectories.map((each) => ({
    ...each,
    entries: Math.min(each.entries, readOnly?.get(each.trajectory_id) ?? each.entries),
  }));
  const total = lengthOf(read);
  const expected = new Map<string, Expected>();
  const onRead = (done: number): void => onProgress?.(done, total);
  const onKeptBack = readOnly && ((write: FactWrite): void => void keptBack.push(write));
  for await (const write of recordedChanges(store, read, onRead, onKeptBack)) {
    const { partition: name, names, version, system_time: latest, inherit } = write;
    const since = name.branch === undefined ? undefined : (inherit?.until ?? OPEN_START);
    const key = nameKey(name);
    const there = expected.get(key) ?? {
      name,
      names: names.hash,
      since,
      version,
      latest,
      rows: new Map(),
    };
    expected.set(key, Object.assign(there, { version, latest }));
    change(there, write);
  }
  return expected;
}

/**
 * A closed version that never existed is missing in the store as well. That is reported where it
 * should have been written.
 */
function change({ rows }: Expected, { close, insert, system_time, inherit }: FactWrite): void {
  for (const row of inherit?.rows ?? [])
    rows.set(rowKey(row), { is: digestOf(row), end: OPEN_END });
  for (const { fact_id, system_time_start } of close) {
    const row = rows.get(rowKey({ fact_id, system_time_start }));
    if (row !== undefined) row.end = system_time;
  }
  for (const row of insert) rows.set(rowKey(row), { is: digestOf(row), end: OPEN_END });
}

/** By partition. */
async function differencesOf(
  store: FactStore,
  expected: ReadonlyMap<string, Expected>,
): Promise<StorePartition[]> {
  const found = new Map<string, StorePartition & { readonly of: FactDifference[] }>();
  const add = (
    name: PartitionName,
    kind: FactDifference['kind'],
    row?: Pick<FactVersion, RowName>,
  ): void => {
    const key = nameKey(name);
    const there = found.get(key) ?? { name: nameOf(name), of: [] };
    found.set(key, there);
    const which = row && { fact_id: row.fact_id, system_time_start: row.system_time_start };
    there.of.push({ kind, ...there.name, ...which });
  };
  const shared = (await store.spaces()).map((space) => ({ space }));
  for (const memory of [...shared, ...(await store.branches())])
    for await (const row of rowsOf(store, memory)) {
      const rows = expected.get(nameKey(row))?.rows;
      const due = rows?.get(rowKey(row));
      if (due === undefined) add(row, 'unexpected', row);
      else if (due.is !== digestOf(row) || due.end !== row.system_time_end) add(row, 'other', row);
      rows?.delete(rowKey(row));
    }
  for (const { name, names, since, version, latest, rows } of expected.values()) {
    for (const key of rows.keys()) {
      const [system_time_start, fact_id] = JSON.parse(key) as [Instant, string];
      add(name, 'missing', { system_time_start, fact_id });
    }
    const live = await store.partition(name);
    const isSame =
      live?.version === version &&
      live.latest === latest &&
      live.names.hash === names &&
      live.since === since;
    if (!isSame && !found.has(nameKey(name))) add(name, 'partition');
  }
  return [...found.values()];
}

type RowName = 'fact_id' | 'system_time_start';

async function* rowsOf(
  store: FactStore,
  memory: Pick<PartitionName, 'space' | 'branch'>,
): AsyncGenerator<FactVersion> {
  for await (const page of factPages(store, { ...memory, kind: 'all' })) yield* page;
}

function digestOf({ content, ...row }: FactVersion): string {
  const columns = [
    row.object,
    content.hash,
    content.bytes,
    row.valid_from,
    row.valid_to,
    row.provenance_id,
    row.confidence,
    row.resolution_strategy_id,
    row.row_kind,
    row.resolution_id,
    row.lineage,
    row.asserted_seq,
    row.asserted_from,
    row.entry_id,
    row.seq,
    row.cardinality,
  ];
  return hashText(plainText(columns)).slice(0, DIGITS);
}

function rowKey({ system_time_start, fact_id }: Pick<FactVersion, RowName>): string {
  return JSON.stringify([system_time_start, fact_id]);
}

/** The name alone, without the other columns of a row. */
function nameOf({ space, subject, predicate, branch }: PartitionName): PartitionName {
  return { space, subject, predicate, ...(branch !== undefined && { branch }) };
}

function nameKey({ space, subject, predicate, branch }: PartitionName): string {
  return JSON.stringify([space, subject, predicate, branch]);
}

function lengthOf(trajectories: readonly TrajectoryInfo[]): number {
  return trajectories.reduce((sum, { entries }) => sum + entries, 0);
}
