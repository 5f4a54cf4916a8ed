import { isInstant } from '#canon';
import {
  type Batch,
  type BranchPartitionQuery,
  type EffectPage,
  type EffectWrite,
  type EntryKind,
  type FactKey,
  type FactQuery,
  type FactTextQuery,
  type FactVector,
  type FactVectorQuery,
  type FactVersion,
  type FactWrite,
  isHash,
  type LogStep,
  type OpenEffectPage,
  type PartitionName,
  type PartitionRead,
  type RankedQuery,
  type SnapshotRow,
} from '#ledger';
import { OPEN_END, OPEN_START } from '#memory';
import type { OracleRow } from '#oracle';
import { StoreError } from './errors.ts';
import { erasedName, nameKey } from './facts.ts';

// A row that the columns cannot hold exactly would be read back as another row, and its hash would
// no longer match. These functions therefore check the shape before a row is queued. Other layers
// check the meaning of rows.

/** The default number of entries in a page. */
export const ENTRIES_PAGE = 1_000;

/** The default number of fact versions in a page. */
export const FACTS_PAGE = 1_000;

const HASH_DIGITS = 64;
const PREFIX = /^[0-9a-f]{8,64}$/;

// A record: a new kind of entry fails to compile here until the kind is added.
const KINDS: ReadonlySet<string> = new Set<EntryKind>(
  Object.keys({
    root: true,
    commit: true,
    rejection: true,
    pending_approval: true,
    delegation: true,
    branch: true,
  } satisfies { readonly [kind in EntryKind]: true }) as EntryKind[],
);

/**
 * Throws `store_invalid_input` unless every row of the batch can be stored and read back exactly.
 * The function ignores `parent`: a store only writes a parent that equals the preceding id.
 */
export function checkBatch(batch: Batch): void {
  checkLists(batch, 'a batch', ['entries', 'blobs']);
  if (batch.erased !== undefined) checkList(batch.erased, 'erased');
  if (batch.erasedAnswers !== undefined) checkList(batch.erasedAnswers, 'erasedAnswers');
  for (let index = 0; index < batch.entries.length; index += 1) {
    const row = batch.entries[index]!;
    if (!isObject(row) || !isHash(row.id)) refuseRow('entry', index, 'id');
    if (!Number.isSafeInteger(row.seq) || row.seq < 0) refuseRow('entry', index, 'seq');
    if (!isText(row.trajectory_id)) refuseRow('entry', index, 'trajectory_id');
    if (!isText(row.payload)) refuseRow('entry', index, 'payload');
    if (!KINDS.has(row.kind)) refuseRow('entry', index, 'kind');
  }
  for (let index = 0; index < batch.blobs.length; index += 1) {
    const row = batch.blobs[index]!;
    if (!isObject(row) || !isHash(row.hash)) refuseRow('blob', index, 'hash');
    if (!isText(row.text)) refuseRow('blob', index, 'text');
  }
  for (const [index, row] of batch.erased?.entries() ?? []) {
    if (!isObject(row) || !isHash(row.hash)) refuseRow('erased blob', index, 'hash');
    if (!isHash(row.by)) refuseRow('erased blob', index, 'entry');
  }
  for (const [index, row] of batch.erasedAnswers?.entries() ?? []) {
    if (!isObject(row) || !isHash(row.key)) refuseRow('erased answer', index, 'key');
    if (!isHash(row.by)) refuseRow('erased answer', index, 'entry');
  }
  if (batch.effects !== undefined) checkEffects(batch.effects);
  if (batch.repeats !== undefined) checkList(batch.repeats, 'repeats');
  for (const [index, hash] of batch.repeats?.entries() ?? [])
    if (!isHash(hash)) refuseRow('repeated text', index, 'hash');
  if (batch.facts !== undefined) {
    checkFactWrites(batch.facts);
    requireOnce(batch.facts);
  }
  if (batch.awaitsFacts !== undefined && typeof batch.awaitsFacts !== 'boolean')
    refuse('awaitsFacts of a batch must be a boolean', {});
}

/**
 * Throws `store_invalid_input` unless every row of the writes can be stored and read back exactly.
 */
export function checkFactWrites(writes: readonly FactWrite[]): void {
  checkList(writes, 'facts');
  for (let index = 0; index < writes.length; index += 1) checkFactWrite(writes[index]!, index);
}

/** Throws `store_invalid_input` unless the value is an async iterable of pages. */
export function checkPages(pages: AsyncIterable<unknown>): void {
  if (!isObject(pages) || typeof pages[Symbol.asyncIterator] !== 'function')
    refuse('pages must be an async iterable', {});
}

/** Throws `store_invalid_input` unless the name can be the name of a partition of facts. */
export function checkPartition(name: PartitionName): void {
  if (!isObject(name)) refuse('a partition must be an object', {});
  for (const member of PARTITION) checkText(name[member], member);
  if (name.branch !== undefined) checkText(name.branch, 'branch');
}

/** Returns the query with its defaults. Throws `store_invalid_input` for an invalid query. */
export function checkFactQuery(query: FactQuery): FactQuery & { readonly kind: FactKind; readonly limit: number } {
  if (!isObject(query)) refuse('a query must be an object', {});
  const {
    space,
    branch,
    subject,
    predicate,
    kind = 'current',
    valid,
    system,
    lineage,
    after,
    limit = FACTS_PAGE,
  } = query;
  checkText(space, 'space');
  if (branch !== undefined) checkText(branch, 'branch');
  if (subject !== undefined) checkText(subject, 'subject');
  if (predicate !== undefined) checkText(predicate, 'predicate');
  if (lineage !== undefined) checkText(lineage, 'lineage');
  if (kind !== 'current' && kind !== 'audit' && kind !== 'all') refuse('kind must be current, audit or all', { kind });
  if (valid !== undefined && !isStart(valid)) refuse('valid must be an instant', { valid });
  if (system !== undefined && system !== 'now' && !isInstant(system))
    refuse('system must be an instant or now', { system });
  if (after !== undefined) {
    if (!isObject(after)) refuse('after must be a version of a fact', {});
    for (const name of AFTER) checkText(after[name], `after.${name}`);
  }
  if (!isNumberFrom(1, limit)) refuse('limit must be a whole number from 1', { limit });
  return { ...query, kind, limit };
}

/** Returns the query with its defaults. Throws `store_invalid_input` for an invalid query. */
export function checkBranchPartitionQuery(
  query: BranchPartitionQuery,
): BranchPartitionQuery & { readonly limit: number } {
  if (!isObject(query)) refuse('a query must be an object', {});
  const { space, branch, subject, predicate, after, limit = FACTS_PAGE } = query;
  for (const [name, text] of Object.entries({ space, branch })) checkText(text, name);
  for (const [name, text] of Object.entries({ subject, predicate })) if (text !== undefined) checkText(text, name);
  if (after !== undefined) {
    if (!isObject(after)) refuse('after must be a partition', {});
    for (const name of ['subject', 'predicate'] as const) checkText(after[name], `after.${name}`);
  }
  if (!isNumberFrom(1, limit)) refuse('limit must be a whole number from 1', { limit });
  return { ...query, limit };
}

export function checkTextQuery(query: FactTextQuery): Checked<FactTextQuery> {
  const checked = checkRankedQuery(query);
  checkText(query.text, 'text');
  return checked;
}

/** Returns the query with its defaults. Throws `store_invalid_input` for an invalid query. */
export function checkVectorQuery(query: FactVectorQuery): Checked<FactVectorQuery> {
  const checked = checkRankedQuery(query);
  checkText(query.embedder, 'embedder');
  if (!isVector(query.vector)) refuse('vector must have finite numbers that are not all zero', {});
  return checked;
}

/** Throws `store_invalid_input` unless the arguments are valid. */
export function checkToEmbed(embedder: string, space: string, limit: number): void {
  for (const [name, text] of Object.entries({ embedder, space })) checkText(text, name);
  checkPage({ limit });
}

/** Throws `store_invalid_input` unless the vectors can be stored and have one length. */
export function checkVectors(embedder: string, vectors: readonly FactVector[]): void {
  checkText(embedder, 'embedder');
  checkList(vectors, 'vectors');
  for (const [index, row] of vectors.entries()) {
    if (!isObject(row) || !isText(row.id)) refuseRow('vector', index, 'id');
    if (!isVector(row.vector) || row.vector.length !== vectors[0]!.vector.length) refuseRow('vector', index, 'vector');
  }
}

function checkRankedQuery<Query extends RankedQuery>(query: Query): Checked<Query> {
  const { kind, limit } = checkFactQuery(query);
  return { ...query, kind, limit };
}

/** Whether the value is a vector that has a direction, so an angle to it can be measured. */
function isVector(value: unknown): boolean {
  return value instanceof Float32Array && value.every(Number.isFinite) && value.some((number) => number !== 0);
}

type Checked<Query> = Query & { readonly kind: FactKind; readonly limit: number };

type FactKind = 'current' | 'audit' | 'all';

const PARTITION = ['space', 'subject', 'predicate'] as const satisfies readonly (keyof PartitionName)[];

/** The fields after which a page continues. */
const AFTER = ['subject', 'predicate', 'system_time_start', 'valid_from', 'fact_id'] as const;

const FACT_TEXTS = [
  'fact_id',
  'object',
  'provenance_id',
  'resolution_strategy_id',
  'lineage',
] as const satisfies readonly (keyof FactVersion)[];

function checkFactWrite(write: FactWrite, index: number): void {
  const need = (isRight: boolean, member: string): void => {
    if (!isRight) refuseRow('change of facts', index, member);
  };
  need(isObject(write) && isObject(write.partition), 'partition');
  const { partition, names, version, system_time, close, insert, inherit, repeats = [], reads = [] } = write;
  for (const member of PARTITION) need(isText(partition[member]), member);
  need(isBranchName(partition.branch), 'branch');
  need(isContent(names), 'names');
  need(isNumberFrom(1, version), 'version');
  need(isInstant(system_time), 'system_time');
  need(Array.isArray(close) && close.every(isFactKey), 'close');
  need(Array.isArray(insert), 'insert');
  for (const row of insert) {
    checkFactRow(row, partition, need);
    need(row.system_time_start === system_time, 'system time');
    need(row.seq === version, 'seq');
    need(row.cardinality === insert[0]!.cardinality, 'cardinality');
  }
  need(Array.isArray(repeats) && repeats.every(isHash), 'repeats');
  need(Array.isArray(reads) && reads.every(isPartitionRead), 'reads');
  if (inherit === undefined) return;
  const isBranch = partition.branch !== undefined || partition.space === erasedName(names.hash).space;
  need(isBranch, 'branch (only a branch inherits)');
  need(isObject(inherit) && isInstant(inherit.until) && inherit.until < system_time, 'inherit.until');
  need(Array.isArray(inherit.rows), 'inherit.rows');
  for (const row of inherit.rows) {
    checkFactRow(row, partition, need);
    need(isInstant(row.system_time_start) && row.system_time_start <= inherit.until, 'system time');
    need(isNumberFrom(1, row.seq) && row.seq < version && row.asserted_seq <= row.seq, 'seq');
    need(row.row_kind === 'current', 'row_kind');
  }
  need(version === Math.max(0, ...inherit.rows.map(({ seq }) => seq)) + 1, 'version');
}

function isPartitionRead(read: PartitionRead): boolean {
  if (!isObject(read) || !isObject(read.partition)) return false;
  const { partition, version } = read;
  return (
    PARTITION.every((member) => isText(partition[member])) && isBranchName(partition.branch) && isNumberFrom(0, version)
  );
}

function isBranchName(branch: unknown): boolean {
  return branch === undefined || (isText(branch) && branch !== '');
}

function checkFactRow(
  row: FactVersion,
  partition: PartitionName,
  need: (isRight: boolean, member: string) => void,
): void {
  need(isObject(row), 'insert');
  for (const member of PARTITION) need(row[member] === partition[member], member);
  need(row.branch === partition.branch, 'branch');
  for (const member of FACT_TEXTS) need(isText(row[member]), member);
  need(isContent(row.content), 'content');
  need(isHash(row.entry_id), 'entry_id');
  need(isStart(row.valid_from) && isEnd(row.valid_to) && row.valid_from < row.valid_to, 'valid time');
  need(row.system_time_end === OPEN_END, 'system time');
  need(typeof row.confidence === 'number' && row.confidence >= 0 && row.confidence <= 1, 'confidence');
  need(row.row_kind === 'current' || row.row_kind === 'audit', 'row_kind');
  need(row.resolution_id === null || isText(row.resolution_id), 'resolution_id');
  need(isNumberFrom(0, row.asserted_seq), 'asserted_seq');
  need(isStart(row.asserted_from), 'asserted_from');
  need(row.cardinality === 'single-valued' || row.cardinality === 'multi-valued', 'cardinality');
}

function requireOnce(writes: readonly FactWrite[]): void {
  if (writes.length < 2) return;
  const names = new Set<string>();
  for (const [index, { partition }] of writes.entries()) {
    const name = nameKey(partition);
    if (names.has(name))
      refuseRow('change of facts', index, 'partition: the batch has another change of the partition');
    names.add(name);
  }
}

function isContent(value: unknown): boolean {
  return (
    isObject(value) &&
    isHash((value as FactVersion['content']).hash) &&
    isNumberFrom(0, (value as FactVersion['content']).bytes)
  );
}

function isFactKey(value: unknown): boolean {
  return isObject(value) && isText((value as FactKey).fact_id) && isInstant((value as FactKey).system_time_start);
}

function isStart(value: unknown): boolean {
  return value === OPEN_START || isInstant(value);
}

function isEnd(value: unknown): boolean {
  return value === OPEN_END || isInstant(value);
}

/**
 * Throws `store_invalid_input` unless every row of the write can be stored and read back exactly.
 */
export function checkEffects(write: EffectWrite): void {
  if (!isObject(write)) refuse('a write of effects must be an object', {});
  const { fence, begun = [], records = [], keys = [], ended = [] } = write;
  if (!isNumberFrom(1, fence)) refuse('the fence of a write must be a whole number from 1', { fence });
  checkList(begun, 'begun');
  checkList(records, 'records');
  checkList(keys, 'keys');
  checkList(ended, 'ended');
  for (let index = 0; index < begun.length; index += 1) {
    const row = begun[index]!;
    if (!isObject(row) || !isNumberFrom(1, row.epoch)) refuseRow('transaction', index, 'epoch');
    if (!isText(row.trajectory_id)) refuseRow('transaction', index, 'trajectory_id');
    if (!isText(row.body)) refuseRow('transaction', index, 'body');
  }
  for (let index = 0; index < records.length; index += 1) {
    const row = records[index]!;
    if (!isObject(row) || !isNumberFrom(1, row.epoch)) refuseRow('record', index, 'epoch');
    if (!isNumberFrom(0, row.place)) refuseRow('record', index, 'place');
    if (!isText(row.record)) refuseRow('record', index, 'record');
  }
  for (let index = 0; index < keys.length; index += 1) {
    const row = keys[index]!;
    if (!isObject(row) || !isHash(row.key)) refuseRow('key', index, 'key');
    if (!isNumberFrom(1, row.epoch)) refuseRow('key', index, 'epoch');
    if (!isNumberFrom(0, row.n)) refuseRow('key', index, 'n');
  }
  for (let index = 0; index < ended.length; index += 1) {
    if (!isNumberFrom(1, ended[index])) refuseRow('end', index, 'epoch');
  }
}

/** Throws `store_invalid_input` unless the value is a signal or undefined. */
export function checkSignal(signal: AbortSignal | undefined): void {
  if (signal !== undefined && !(signal instanceof AbortSignal)) refuse('signal must be an AbortSignal', {});
}

/** Throws `store_invalid_input` unless the options of a group membership are valid. */
export function checkMembership(options: { readonly leaseMs: number; readonly signal?: AbortSignal }): void {
  if (typeof options !== 'object' || options === null)
    refuse('the options of a membership must be an object with leaseMs', {});
  const { leaseMs, signal } = options;
  if (!isNumberFrom(1, leaseMs) || leaseMs >= 2 ** 31) refuse('leaseMs must be whole milliseconds from 1', { leaseMs });
  checkSignal(signal);
}

/** Throws `store_invalid_input` unless the arguments of a snapshot read are valid. */
export function checkSnapshotRead(read: unknown, options: { readonly byText?: boolean } | undefined): void {
  if (typeof read !== 'function') refuse('the snapshot read must be a function', {});
  if (options === undefined) return;
  if (typeof options !== 'object' || options === null) refuse('the options of a snapshot read must be an object', {});
  if (options.byText !== undefined && typeof options.byText !== 'boolean') refuse('byText must be a boolean', {});
}

/** Throws `store_invalid_input` unless the epoch is a whole number from 1. */
export function checkEpoch(epoch: number): void {
  if (!isNumberFrom(1, epoch)) refuse('epoch must be a whole number from 1', { epoch });
}

/** Whether the batch contains nothing to write. */
export function isEmpty({ entries, blobs, erased = [], erasedAnswers = [], effects, facts = [] }: Batch): boolean {
  return effects === undefined && [entries, blobs, erased, erasedAnswers, facts].every(({ length }) => length === 0);
}

/** Throws `store_invalid_input` unless the value can be the key of claims. */
export function checkClaimKey(key: Uint8Array): void {
  if (!(key instanceof Uint8Array) || key.length < 16 || key.length > 64)
    refuse('a key of claims must have 16 to 64 bytes', {});
}

/** Throws `store_invalid_input` unless the hash is 64 lower-case hex digits. */
export function checkHash(hash: string, name: string): void {
  if (!isHash(hash)) refuse(`${name} must be ${HASH_DIGITS} lower-case hex digits`, { [name]: hash });
}

/** Throws `store_invalid_input` unless the text can be stored and read back exactly. */
export function checkText(text: string, name: string): void {
  if (!isText(text)) refuse(`${name} must be well-formed text without NUL`, { member: name });
}

/** Throws `store_invalid_input` unless the row can be stored and read back exactly. */
export function checkOracleRow(row: OracleRow, within?: string): void {
  if (within !== undefined) checkHash(within, 'within');
  if (!isObject(row)) refuse('a row must be an object', {});
  checkHash(row.key, 'key');
  checkText(row.answer, 'answer');
  checkText(row.at, 'at');
}

/** Throws `store_invalid_input` unless the arguments of a list of answers are valid. */
export function checkWithin(within: string, page: { readonly after?: string; readonly limit: number }): void {
  checkHash(within, 'within');
  checkAnswerPage(page);
}

/** Throws `store_invalid_input` unless the arguments of a page of answers are valid. */
export function checkAnswerPage(page: { readonly after?: string; readonly limit: number }): void {
  if (!isObject(page)) refuse('a page must be an object', {});
  checkPage({ limit: page.limit });
  if (page.after !== undefined) checkHash(page.after, 'after');
}

/** Throws `store_invalid_input` unless the row can be stored and read back exactly. */
export function checkSnapshotRow(row: SnapshotRow): void {
  if (!isObject(row)) refuse('a row must be an object', {});
  checkText(row.trajectory_id, 'trajectory_id');
  checkCount(row.seq, 'seq');
  checkHash(row.hash, 'hash');
  checkText(row.text, 'text');
}

/** Throws `store_invalid_input` unless the step can be stored and read back exactly. */
export function checkLogStep(step: LogStep): void {
  checkLists(step, 'a step', ['leaves', 'nodes']);
  const { size, leaves, nodes } = step;
  checkCount(size, 'size');
  for (const leaf of leaves) {
    if (!isObject(leaf)) refuse('a leaf must be an object', {});
    const { id, hash } = leaf;
    checkHash(id, 'id');
    checkNodeHash(hash);
  }
  for (const node of nodes) {
    if (!isObject(node)) refuse('a node must be an object', {});
    const { level, index, hash } = node;
    checkCount(level, 'level');
    checkCount(index, 'index');
    if (level === 0) refuse('the level of a node must be above the leaves', { level });
    checkNodeHash(hash);
  }
}

/** The maximum number of log hashes in one call. */
const NODES_MAX = 10_000;

/** Throws `store_invalid_input` unless the arguments are valid. */
export function checkNodes(level: number, from: number, count: number): void {
  checkCount(level, 'level');
  checkCount(from, 'from');
  if (!Number.isSafeInteger(count) || count < 1 || count > NODES_MAX)
    refuse(`count must be a whole number from 1 to ${NODES_MAX}`, { count });
}

/** Throws `store_invalid_input` unless the count is a whole number from 0. */
export function checkCount(count: number, name: string): void {
  if (!Number.isSafeInteger(count) || count < 0) refuse(`${name} must be a whole number from 0`, { [name]: count });
}

function checkNodeHash(hash: Uint8Array): void {
  if (!(hash instanceof Uint8Array) || hash.length !== HASH_DIGITS / 2)
    refuse('a hash in the log must have 32 bytes', {});
}

/**
 * Returns the prefix in lower case, because people type ids. Throws `store_invalid_input` unless
 * the prefix is 8 to 64 hex digits.
 */
export function checkPrefix(prefix: string): string {
  if (typeof prefix !== 'string') refuse('a prefix must be a string', {});
  const lower = prefix.toLowerCase();
  if (!PREFIX.test(lower)) refuse('a prefix of an id must have 8 to 64 hex digits', { prefix });
  return lower;
}

/**
 * Returns both options with their defaults. Throws `store_invalid_input` unless `from` is a whole
 * number from 0 and `limit` a whole number from 1.
 */
export function checkPage(options: { from?: number; limit?: number } = {}): { from: number; limit: number } {
  if (!isObject(options)) refuse('options must be an object', {});
  const { from = 0, limit = ENTRIES_PAGE } = options;
  if (!Number.isSafeInteger(from) || from < 0) refuse('from must be a whole number from 0', { from });
  if (!Number.isSafeInteger(limit) || limit < 1) refuse('limit must be a whole number from 1', { limit });
  return { from, limit };
}

/** Throws `store_invalid_input` unless the page of effects is valid. */
export function checkEffectPage(page: EffectPage): void {
  if (!isObject(page)) refuse('a page must be an object', {});
  const { before, limit, trajectoryId } = page;
  if (before !== undefined) checkEpoch(before);
  if (!isNumberFrom(1, limit)) refuse('limit must be a whole number from 1', { limit });
  if (trajectoryId !== undefined) checkText(trajectoryId, 'trajectory_id');
}

export function checkOpenPage(page: OpenEffectPage): void {
  if (!isObject(page)) refuse('a page must be an object', {});
  const { after, limit, trajectoryId } = page;
  if (after !== undefined && !isNumberFrom(0, after)) refuse('after must be a whole number', { after });
  if (limit !== undefined && !isNumberFrom(1, limit)) refuse('limit must be a whole number from 1', { limit });
  if (trajectoryId !== undefined) checkText(trajectoryId, 'trajectory_id');
}

// A lone surrogate has no UTF-8 bytes, so a database would store another character instead.
// PostgreSQL has no NUL in text, so a ledger with NUL could not move to PostgreSQL. Canonical text
// has neither.
function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
}

function isNumberFrom(min: number, value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= min;
}

function checkLists(value: unknown, what: string, names: readonly string[]): void {
  if (!isObject(value)) refuse(`${what} must be an object`, {});
  for (const name of names) checkList((value as Readonly<Record<string, unknown>>)[name], name);
}

function checkList(value: unknown, name: string): void {
  if (!Array.isArray(value)) refuse(`${name} must be a list`, { member: name });
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function refuseRow(row: string, index: number, member: string): never {
  refuse(`${row} ${index} of the batch has no valid ${member}`, { index, member });
}

function refuse(what: string, evidence: Readonly<Record<string, unknown>>): never {
  throw new StoreError(
    'store_invalid_input',
    `The store received an invalid argument, and nothing was written: ${what}.`,
    {
      evidence,
    },
  );
}
