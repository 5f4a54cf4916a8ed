import type {
  ContentRef,
  FactKey,
  FactPlace,
  FactVersion,
  FactWrite,
  Hash,
  Outdated,
  PartitionName,
  PartitionRead,
} from '#ledger';
import { OPEN_END, OPEN_START, type OpenKey, OpenSet } from '#memory';
import { StoreError } from './errors.ts';

/** The state of one partition in a store. */
export interface FactState {
  readonly names: ContentRef;
  readonly version: number;
  readonly latest: string;
  /** The current facts of the partition, as the check of a change needs them. */
  readonly open: OpenSet<OpenKey>;
  /** Set for a partition of a branch, as in `PartitionState`. */
  readonly since: string | undefined;
}

/** The state of facts in a store, as the check of writes needs it. */
export interface FactView {
  /** Whether a text was erased. */
  isErased(hash: Hash): boolean;
  partition(name: PartitionName): FactState | undefined;
  /** Whether any partition of the same space and branch contains this version of a fact. */
  has(name: PartitionName, key: FactKey): boolean;
}

/** A change of one partition that passed the check. */
export interface FactChange {
  /** The name as the store has it, or will have it after the write. */
  readonly partition: PartitionName;
  readonly names: ContentRef;
  readonly version: number;
  readonly system_time: string;
  readonly close: readonly OpenKey[];
  /** Includes the inherited rows of a new branch partition, ended if the change closes them. */
  readonly insert: readonly FactVersion[];
  /** Undefined if the partition is new. */
  readonly before: FactState | undefined;
  readonly since: string | undefined;
  /** Texts that must not be erased when the change is written. */
  readonly repeats: readonly Hash[];
  /** Partitions that must be unchanged when the change is written. */
  readonly reads: readonly PartitionRead[];
}

/**
 * The refusal of a batch that repeats an erased text. All callers share the object, because the
 * refusal names no partition.
 */
export const REPEATS_ERASED: Outdated = Object.freeze({ status: 'outdated' });

/**
 * The result of checking the facts of a batch against the store's state. It is the same in every
 * store.
 */
export type FactVerdict =
  | { readonly changes: readonly FactChange[] }
  | { readonly refusal: Outdated };

/**
 * Checks writes without changing anything. A concurrent change of a partition is reported before
 * any misuse.
 *
 * @throws {StoreError} `store_invalid_input` for misuse, as `FactWrite` declares
 */
export function judgeFacts(writes: readonly FactWrite[], view: FactView): FactVerdict {
  const found = writes.map((write) => {
    const partition = view.isErased(write.names.hash)
      ? erasedName(write.names.hash)
      : write.partition;
    return { write, partition, state: view.partition(partition) };
  });
  for (const { write, state } of found) {
    if (isOutdated(write, state, view))
      return { refusal: { status: 'outdated', partition: nameOf(write.partition) } };
  }
  const partitions = new Set<string>();
  const versions = new Set<string>();
  const changes = found.map(({ write, partition, state }): FactChange => {
    const name = nameKey(partition);
    // Two erased names can belong to one partition.
    if (partitions.has(name)) throw misuse(write, 'is changed twice');
    partitions.add(name);
    const inherited = write.inherit?.rows ?? [];
    const from = write.inherit === undefined ? state : begun(write, write.inherit);
    if (from !== undefined) requireFits(write, from);
    const close = closed(write, from);
    const memory = JSON.stringify([partition.space, partition.branch]);
    for (const row of [...inherited, ...write.insert]) {
      const key = `${memory} ${factKey(row)}`;
      if (versions.has(key) || view.has(partition, row))
        throw misuse(write, 'has a row to insert that exists already', row);
      versions.add(key);
    }
    requireNonOverlapping(write, from, close);
    const { names, version, system_time, repeats = [], reads = [] } = write;
    const ended = new Set(inherited.length === 0 ? [] : close.map(factKey));
    const insert = [...inherited, ...write.insert].map((row) => {
      const end = ended.has(factKey(row)) ? system_time : OPEN_END;
      return versionOf(row, partition, view.isErased(row.content.hash), end);
    });
    const since =
      partition.branch === undefined
        ? undefined
        : (state?.since ?? write.inherit?.until ?? OPEN_START);
    const isNew = state === undefined;
    const now = { names, version, system_time, close: isNew ? [] : close, insert, since };
    return { partition, ...now, before: state, repeats, reads };
  });
  return { changes };
}

function isOutdated(write: FactWrite, state: FactState | undefined, view: FactView): boolean {
  const { version, inherit, repeats = [], reads = [] } = write;
  // The version was checked, and belongs to the inherited partition.
  const isRight =
    inherit === undefined ? version === (state?.version ?? 0) + 1 : state === undefined;
  if (!isRight || repeats.some((hash) => view.isErased(hash))) return true;
  return reads.some((read) => (view.partition(read.partition)?.version ?? 0) !== read.version);
}

/** The partition of a branch before its first change. */
function begun(
  { names, version }: FactWrite,
  { until, rows }: NonNullable<FactWrite['inherit']>,
): FactState {
  const open = new OpenSet(rows.map(openKey));
  return { names, version: version - 1, latest: until, open, since: until };
}

/** Applies a change to the set of open rows. */
export function changeOpen(open: OpenSet<OpenKey>, { close, insert }: FactChange): void {
  for (const row of close) open.delete(row);
  for (const row of insert)
    if (row.row_kind === 'current' && row.system_time_end === OPEN_END) open.add(openKey(row));
}

/** The key of a version within its partition. */
export function factKey({ fact_id, system_time_start }: FactKey): string {
  return `${system_time_start} ${fact_id}`;
}

export function nameKey({ space, subject, predicate, branch }: PartitionName): string {
  return JSON.stringify(
    branch === undefined ? [space, subject, predicate] : [space, subject, predicate, branch],
  );
}

/** The placeholder of an erased text. */
export function erasedText(hash: Hash): string {
  return `{"$erased":"${hash}"}`;
}

/**
 * Whether a text is a placeholder of an erased text. For the object of a fact, compare with
 * `erasedText` of its own hash: a caller can assert any text that looks like a placeholder.
 */
export function isErasedText(text: string): boolean {
  return /^\{"\$erased":"[0-9a-f]{64}"\}$/.test(text);
}

/**
 * The name of a partition after its names were erased, in any branch. The hash makes the name
 * unique.
 */
export function erasedName(hash: Hash): PartitionName {
  const text = erasedText(hash);
  return { space: text, subject: text, predicate: text };
}

/** The rows and characters of changes. They limit the size of a group. */
export function factSize(facts: readonly FactWrite[] = []): {
  readonly rows: number;
  readonly bytes: number;
} {
  let rows = 0;
  let bytes = 0;
  for (const { close, insert, inherit, reads = [] } of facts) {
    const inherited = inherit?.rows ?? [];
    rows += 1 + close.length + insert.length + inherited.length + reads.length;
    for (const row of [...insert, ...inherited])
      bytes += row.object.length + row.provenance_id.length;
  }
  return { rows, bytes };
}

/**
 * Compares by code points, the order of the UTF-8 bytes. The result is below zero if `a` sorts
 * first.
 */
export function compareCodePoints(a: string, b: string): number {
  if (a === b) return 0;
  let at = 0;
  while (at < a.length && at < b.length && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  return rank(a, at) - rank(b, at);
}

/** The order in which a store returns rows. */
export function compareRows(a: FactPlace, b: FactPlace): number {
  return (
    compareCodePoints(a.subject, b.subject) ||
    compareCodePoints(a.predicate, b.predicate) ||
    compareCodePoints(a.system_time_start, b.system_time_start) ||
    compareCodePoints(a.valid_from, b.valid_from) ||
    compareCodePoints(a.fact_id, b.fact_id)
  );
}

/** Copies the fields that the set of open rows stores. */
export function openKey({ fact_id, system_time_start, valid_from, valid_to }: OpenKey): OpenKey {
  return { fact_id, system_time_start, valid_from, valid_to };
}

/** The error of every call about facts while the facts are incomplete. */
export function incompleteError(path: string): StoreError {
  return new StoreError(
    'store_facts_incomplete',
    `The facts of ${path} are incomplete: a rebuild or import is running or was interrupted. Wait, or repeat assize import or assize memory rebuild.`,
    { evidence: { path } },
  );
}

/** The error for a page of changes that does not continue the previous page. */
export function brokenOrder({ partition, version }: FactWrite): StoreError {
  return new StoreError(
    'store_invalid_input',
    `Version ${version} of a partition is out of order. Pass all changes of a partition in the order of their versions.`,
    { evidence: { partition: nameOf(partition), version } },
  );
}

/** Copies the fields of the name from a row that contains them. */
export function nameOf({ space, subject, predicate, branch }: PartitionName): PartitionName {
  return { space, subject, predicate, ...(branch !== undefined && { branch }) };
}

// A surrogate stands for a code point above every code point of one unit, although its own number
// is below some of them.
function rank(text: string, at: number): number {
  if (at >= text.length) return -1;
  const unit = text.charCodeAt(at);
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

function requireFits(write: FactWrite, { names, latest }: FactState): void {
  if (write.names.hash !== names.hash || write.names.bytes !== names.bytes)
    throw misuse(write, 'has its names in a different blob');
  if (write.system_time <= latest)
    throw misuse(write, `was changed at ${latest}, and the new change is not later`);
}

/** The rows that the write closes. @throws {StoreError} */
function closed(write: FactWrite, state: FactState | undefined): OpenKey[] {
  const closing = new Set<string>();
  return write.close.map((key) => {
    const row = state?.open.get(key);
    if (row === undefined || closing.has(factKey(key)))
      throw misuse(write, 'has a row to close that is not open', key);
    closing.add(factKey(key));
    return row;
  });
}

/**
 * Rejects a fact with a valid time that overlaps another fact of a single-valued partition.
 * @throws {StoreError}
 */
function requireNonOverlapping(
  write: FactWrite,
  state: FactState | undefined,
  close: readonly OpenKey[],
): void {
  const gone = new Set(close.map(factKey));
  requireInheritedNonOverlapping(write, gone);
  if (write.insert[0]?.cardinality !== 'single-valued') return;
  const inserted = write.insert.filter(({ row_kind }) => row_kind === 'current');
  for (const [n, row] of inserted.entries()) {
    const there = state?.open.overlapping({ from: row.valid_from, to: row.valid_to }) ?? [];
    const isTaken = there.some((other) => !gone.has(factKey(other)));
    if (isTaken || inserted.some((other, i) => i < n && overlap(other, row)))
      throw misuse(write, 'is single-valued, and a row to insert overlaps another row', row);
  }
}

/** Inherited rows overlapped before the branch, so they can still overlap. @throws {StoreError} */
function requireInheritedNonOverlapping(write: FactWrite, gone: ReadonlySet<string>): void {
  const begun = (write.inherit?.rows ?? [])
    .filter((row) => row.cardinality === 'single-valued' && !gone.has(factKey(row)))
    .sort((a, b) => compareCodePoints(a.valid_from, b.valid_from));
  const next = begun.find((row, n) => n > 0 && overlap(begun[n - 1]!, row));
  if (next !== undefined)
    throw misuse(write, 'is single-valued, and an inherited row overlaps another row', next);
}

function overlap(a: OpenKey, b: OpenKey): boolean {
  return a.valid_from < b.valid_to && b.valid_from < a.valid_to;
}

/** A frozen copy with the partition's current name and without erased values. */
function versionOf(
  row: FactVersion,
  partition: PartitionName,
  isErased: boolean,
  end: string,
): FactVersion {
  const { hash, bytes } = row.content;
  return Object.freeze({
    fact_id: row.fact_id,
    ...nameOf(partition),
    object: isErased ? erasedText(hash) : row.object,
    content: Object.freeze({ hash, bytes }),
    valid_from: row.valid_from,
    valid_to: row.valid_to,
    system_time_start: row.system_time_start,
    system_time_end: end,
    provenance_id: row.provenance_id,
    // Normalizes negative zero, because stores have only one zero.
    confidence: row.confidence + 0,
    resolution_strategy_id: row.resolution_strategy_id,
    row_kind: row.row_kind,
    resolution_id: row.resolution_id,
    lineage: row.lineage,
    asserted_seq: row.asserted_seq,
    asserted_from: row.asserted_from,
    entry_id: row.entry_id,
    seq: row.seq,
    cardinality: row.cardinality,
  });
}

function misuse({ partition, version }: FactWrite, what: string, key?: FactKey): StoreError {
  const evidence = {
    partition: nameOf(partition),
    version,
    ...(key && { fact_id: key.fact_id, system_time_start: key.system_time_start }),
  };
  return new StoreError(
    'store_invalid_input',
    `A partition of facts ${what}, and nothing was written. Read the partition again, and plan the change again.`,
    { evidence },
  );
}
