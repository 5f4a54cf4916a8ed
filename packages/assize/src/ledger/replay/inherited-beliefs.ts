import { isInstance } from '#base';
import { canonicalize, type Instant, maxInstant } from '#canon';
import type { BranchPayload, CommitPayload, Entry, Payload } from '../entry/entry.ts';
import { checkRow } from '../entry/entry-text.ts';
import type { BeliefChange, FactKey, Inheritance, PartitionName } from '../entry/fact-rows.ts';
import type { Hash } from '../entry/hash.ts';
import { memoryOf } from '../entry/memory-of.ts';
import { placedProvenance } from '../entry/placed-provenance.ts';
import { type Fault, LedgerFault } from '../errors.ts';
import type { LedgerStore } from '../ports/ledger-store.ts';
import type { BrokenRule } from '../rule-ids.ts';
import { ValueReader } from './values.ts';

/** A partition in a branch's memory, as an entry names it. */
export interface BranchesPartition {
  readonly name: PartitionName & { readonly branch: string };
  /** The hash of the blob with the partition's name. */
  readonly names: Hash;
}

type Reader = Pick<LedgerStore, 'blob' | 'entries' | 'erasedBy' | 'resolve' | 'trajectories'>;

const PAGE = 1_000;

/**
 * Checks the inherited facts of branches. This needs the changes of all trajectories. A branch's
 * partition starts once, with the rows that were open in its source as of `until`. `until` is not
 * after the branch point and covers all changes by the source itself. The check reads commits that
 * change facts once, and keeps those of matching space, subject and predicate.
 *
 * The ledger does not record which changes of other trajectories had arrived, because clocks can
 * differ. Any earlier instant is therefore accepted. If the names of a partition were erased, any
 * such partition can be the source.
 *
 * `unsound`: trajectories that fail verification, with the seq of the fault. Their later entries
 * are not read. If a source lacks versions that may be in those entries, the branch cannot be
 * checked.
 *
 * Returns at most one fault per trajectory.
 *
 * @throws LedgerFault if a trajectory itself is at fault
 */
export async function inheritanceFaults(
  reader: Reader,
  partitions: readonly BranchesPartition[],
  unsound: ReadonlyMap<string, number> = new Map(),
): Promise<Fault[]> {
  const sources = new Map<string, readonly BranchSource[]>();
  for (const { name } of partitions)
    if (!sources.has(name.branch)) sources.set(name.branch, await sourcesOf(reader, name.branch));
  const changes = await changesOf(reader, partitions, [...sources.values()].flat(), unsound);
  for (const line of sources.values()) nestTimes(line);
  const faults = new Map<string, Fault>();
  for (const { name, names } of partitions) {
    const line = sources.get(name.branch) as readonly BranchSource[];
    // If a source fails verification before the branch point, its changes are unknown.
    if (line.some(({ trajectoryId, seq }) => (unsound.get(trajectoryId) ?? seq + 1) <= seq))
      continue;
    const found = faultIn(changes, line, { name, names });
    if (found === undefined) continue;
    const { rule, detail, change } = found;
    const { trajectory_id, seq } = change;
    if ((faults.get(trajectory_id)?.seq ?? seq) >= seq)
      faults.set(trajectory_id, { trajectory_id, seq, code: 'rule_broken', rule, detail });
  }
  return [...faults.values()];
}

/** The point at which a branch, or an ancestor of the branch, inherits its memory. */
interface BranchSource {
  /** The id of a branch. Absent: the shared memory. */
  readonly branch: string | undefined;
  readonly trajectoryId: string;
  /** The seq of the entry at the branch point. */
  readonly seq: number;
  /**
   * The time up to which changes are visible: the time of that entry, or of the trajectory's latest
   * earlier change.
   */
  until: Instant;
}

/** A change of a partition, with its position. */
interface Change {
  readonly trajectory_id: string;
  readonly seq: number;
  readonly version: number;
  readonly system_time: Instant;
  readonly close: readonly FactKey[];
  /** The inserted rows, in the form that a branch inherits. */
  readonly rows: readonly TakenRow[];
  readonly inherit: Inheritance | undefined;
}

interface TakenRow {
  readonly key: string;
  readonly is: string;
}

/** Changes by partition: of partitions with known names, and of partitions with erased names. */
interface Changes {
  readonly named: ReadonlyMap<string, readonly Hash[]>;
  readonly unnamed: readonly Hash[];
  /** In version order. */
  readonly of: ReadonlyMap<Hash, readonly Change[]>;
  /** Whether changes may be missing in the memory of that branch, or in the shared memory. */
  readonly mayLack: (branch: string | undefined) => boolean;
}

/**
 * The visibility chain of a branch, nearest first; the shared memory is last. Valid chains contain
 * no cycle.
 */
async function sourcesOf(reader: Reader, branch: string): Promise<BranchSource[]> {
  const found: BranchSource[] = [];
  const firstOf = firstIn(reader);
  const passed = new Set<string>();
  for (let at: string | undefined = branch; at !== undefined && !passed.has(at); ) {
    passed.add(at);
    const { source_trajectory_id: trajectoryId, source_commit_id } = (await firstOf(
      at,
    )) as BranchPayload;
    const row = await reader.resolve(source_commit_id);
    const memory = await memoryOf(trajectoryId, firstOf);
    if (row === undefined || memory === undefined)
      throw new LedgerFault({
        trajectory_id: at,
        seq: 0,
        code: 'source_missing',
        detail: `the facts of ${trajectoryId} cannot be found`,
      });
    found.push({
      branch: memory.branch,
      trajectoryId,
      seq: row.seq,
      until: checkRow(row).payload.at,
    });
    at = memory.branch;
  }
  return found;
}

function firstIn(reader: Reader): (trajectoryId: string) => Promise<Payload | undefined> {
  return async (trajectoryId) => {
    const [row] = await reader.entries(trajectoryId, { from: 0, limit: 1 });
    return row === undefined ? undefined : checkRow(row).payload;
  };
}

/**
 * The memories that trajectories with failed verification may have changed: their own memories, if
 * known.
 */
async function incompleteMemories(
  reader: Reader,
  unsound: ReadonlyMap<string, number>,
): Promise<(branch: string | undefined) => boolean> {
  const memories = new Set<string | undefined>();
  for (const trajectoryId of unsound.keys()) {
    const memory = await memoryOf(trajectoryId, firstIn(reader)).catch((error: unknown) => {
      if (isInstance(error, LedgerFault)) return undefined;
      throw error;
    });
    if (memory === undefined) return () => true;
    memories.add(memory.branch);
  }
  return (branch) => memories.has(branch);
}

/** A branch starts no earlier than its source. */
function nestTimes(line: readonly BranchSource[]): void {
  for (const [i, source] of [...line.entries()].reverse())
    source.until = maxInstant(source.until, line[i + 1]?.until ?? source.until);
}

/**
 * The changes with the space, subject and predicate of one of the partitions. Moves each source on
 * to its latest earlier change.
 */
async function changesOf(
  reader: Reader,
  partitions: readonly BranchesPartition[],
  sources: readonly BranchSource[],
  unsound: ReadonlyMap<string, number>,
): Promise<Changes> {
  const wanted = new Set(partitions.map(({ name }) => keyOf({ ...name, branch: undefined })));
  const values = new ValueReader(reader);
  const names = new Map<Hash, PartitionName | undefined>();
  const named = new Map<string, Hash[]>();
  const unnamed: Hash[] = [];
  const of = new Map<Hash, Change[]>();
  const sourcesIn = Map.groupBy(sources, ({ trajectoryId }) => trajectoryId);
  for await (const entry of beliefCommits(reader, unsound)) {
    const { trajectory_id, seq, payload } = entry;
    const later = sourcesIn.get(trajectory_id)?.filter((source) => source.seq >= seq) ?? [];
    for (const change of payload.delta.beliefs) {
      for (const source of later) source.until = maxInstant(source.until, change.system_time);
      const { $blob: hash } = change.partition;
      if (!names.has(hash)) {
        const held = await values.read<never>(entry, change.partition as never);
        const name = 'value' in held ? (held.value as PartitionName) : undefined;
        names.set(hash, name);
        if (name === undefined) unnamed.push(hash);
        else if (wanted.has(keyOf({ ...name, branch: undefined })))
          named.set(keyOf(name), [...(named.get(keyOf(name)) ?? []), hash]);
      }
      const name = names.get(hash);
      if (name !== undefined && !wanted.has(keyOf({ ...name, branch: undefined }))) continue;
      const list = of.get(hash) ?? [];
      of.set(hash, list);
      list.push(changeOf(entry, change));
    }
  }
  for (const list of of.values())
    list.sort((a, b) => a.version - b.version || Number(!a.inherit) - Number(!b.inherit));
  return { named, unnamed, of, mayLack: await incompleteMemories(reader, unsound) };
}

async function* beliefCommits(
  reader: Reader,
  unsound: ReadonlyMap<string, number>,
): AsyncGenerator<Entry<CommitPayload>> {
  for (const { trajectory_id, entries: length } of await reader.trajectories()) {
    const entries = Math.min(length, unsound.get(trajectory_id) ?? length);
    for (let from = 0; from < entries; from += PAGE) {
      const rows = await reader.entries(trajectory_id, {
        from,
        limit: Math.min(PAGE, entries - from),
      });
      for (const row of rows) {
        if (row.kind !== 'commit') continue;
        const entry = checkRow(row) as Entry<CommitPayload>;
        if (entry.payload.delta.beliefs.length > 0) yield entry;
      }
    }
  }
}

function changeOf({ id, trajectory_id, seq }: Entry, change: BeliefChange): Change {
  const { version, system_time, close, cardinality, inherit } = change;
  const rows = change.insert
    .filter(({ row_kind }) => row_kind === 'current')
    .map(({ provenance_id, ...row }) =>
      asInherited({
        ...row,
        row_kind: 'current',
        provenance_id: placedProvenance(provenance_id, id),
        system_time_start: system_time,
        entry_id: id,
        seq: version,
        cardinality,
      }),
    );
  return { trajectory_id, seq, version, system_time, close, rows, inherit };
}

interface InheritanceFault extends BrokenRule {
  readonly change: Change;
}

function faultIn(
  changes: Changes,
  sources: readonly BranchSource[],
  { name, names }: BranchesPartition,
): InheritanceFault | undefined {
  const [first, ...rest] = changes.of.get(names) ?? [];
  if (first === undefined) return undefined;
  const again = rest.find(
    ({ version, inherit }) => inherit !== undefined || version === first.version,
  );
  if (again !== undefined)
    return {
      change: again,
      rule: 'memory.first',
      detail: `the partition ${names} has two first versions`,
    };
  const { inherit, version } = first;
  if (inherit === undefined && version !== 1) {
    // The partition may start in unreadable entries.
    if (changes.mayLack(name.branch)) return undefined;
    const detail = `the partition ${names} starts with version ${version} but inherits no facts`;
    return { change: first, rule: 'memory.first', detail };
  }
  // Walks the visibility chain until a source has changed the partition.
  for (const source of sources) {
    const there = changes.named.get(keyOf({ ...name, branch: source.branch })) ?? [];
    if (
      inherit !== undefined &&
      there.some((hash) => isInherited(inherit, source, changes.of.get(hash) ?? []))
    )
      return undefined;
    if (
      there.some((hash) => (changes.of.get(hash) ?? []).some((change) => isBefore(change, source)))
    ) {
      const detail = `the branch does not start with the facts of ${names} that ${source.trajectoryId} had at the branch point`;
      if (inherit === undefined) return { change: first, rule: 'memory.unchanged', detail };
      break;
    }
  }
  if (inherit === undefined) return undefined;
  const [nearest] = sources as readonly [BranchSource];
  const isLacking = sources.some(({ branch }) => changes.mayLack(branch));
  if (isLacking && !sources.some(({ branch }) => isKnown(changes, { ...name, branch }, version)))
    return undefined;
  const isOfErased = changes.unnamed.some((hash) =>
    isInherited(inherit, nearest, changes.of.get(hash) ?? []),
  );
  if (isOfErased) return undefined;
  const detail = `the inherited facts of ${names} differ from those of its source at ${inherit.until}`;
  return { change: first, rule: 'memory.inherited', detail };
}

/**
 * Whether all changes of a partition before that version are known. The version counts the source's
 * changes that the branch inherits.
 */
function isKnown({ named, of }: Changes, name: NameParts, version: number): boolean {
  return (named.get(keyOf(name)) ?? []).some((hash) => {
    const versions = new Set((of.get(hash) ?? []).map((change) => change.version));
    const first = (of.get(hash) ?? [])[0];
    let next = first?.inherit === undefined ? 1 : first.version;
    while (versions.has(next)) next += 1;
    return next >= version;
  });
}

/** Whether the branch's source made the change before the branch point. */
function isBefore({ trajectory_id, seq }: Change, source: BranchSource): boolean {
  return trajectory_id === source.trajectoryId && seq <= source.seq;
}

/**
 * Whether the inherited rows are the rows open at that time, including all changes of the source
 * itself.
 */
function isInherited(
  { until, rows }: Inheritance,
  source: BranchSource,
  changes: readonly Change[],
): boolean {
  const [first] = changes;
  if (first === undefined || until > source.until) return false;
  if (changes.some((change) => change.system_time > until && isBefore(change, source)))
    return false;
  const open = new Map(
    (first.inherit?.rows ?? []).map(asInherited).map((row) => [row.key, row.is]),
  );
  for (const change of changes.filter(({ system_time }) => system_time <= until)) {
    for (const key of change.close) open.delete(keyOfRow(key));
    for (const row of change.rows) open.set(row.key, row.is);
  }
  return (
    open.size === rows.length && rows.map(asInherited).every(({ key, is }) => open.get(key) === is)
  );
}

function asInherited(row: Inheritance['rows'][number]): TakenRow {
  return { key: keyOfRow(row), is: canonicalize(row) };
}

function keyOfRow({ fact_id, system_time_start }: FactKey): string {
  return `${system_time_start} ${fact_id}`;
}

type NameParts = { readonly [name in keyof PartitionName]: string | undefined };

function keyOf({ space, subject, predicate, branch }: NameParts): string {
  return JSON.stringify([space, subject, predicate, branch ?? null]);
}
