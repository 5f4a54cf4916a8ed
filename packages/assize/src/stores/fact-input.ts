import { type ArgumentIssue, type ArgumentSchema, arg } from '#base';
import { isInstant } from '#canon';
import type {
  BranchPartitionQuery,
  ContentRef,
  FactKey,
  FactQuery,
  FactTextQuery,
  FactVector,
  FactVectorQuery,
  FactVersion,
  FactWrite,
  PartitionName,
  PartitionRead,
} from '#ledger';
import { OPEN_END, OPEN_START } from '#memory';
import { checkInput, HASH, POSITIVE, TEXT } from './check-input.ts';
import { erasedName, nameKey } from './facts.ts';

/** The default number of fact versions in a page. */
export const FACTS_PAGE = 1_000;

export const INSTANT: ArgumentSchema = arg.of('an instant', isInstant);
const START = arg.of('an instant or the open start', isStart);
const END = arg.of('an instant or the open end', (value) => value === OPEN_END || isInstant(value));
const CONTENT = arg.row<ContentRef>(
  (ref) => arg.at('hash', HASH(ref.hash)) ?? arg.at('bytes', arg.whole(ref.bytes)),
);

const BRANCH = arg.optional(TEXT);

/** The name of a partition. */
export const PARTITION = arg.row<PartitionName>(
  ({ space, subject, predicate, branch }) =>
    arg.at('space', TEXT(space)) ??
    arg.at('subject', TEXT(subject)) ??
    arg.at('predicate', TEXT(predicate)) ??
    arg.at('branch', BRANCH(branch)),
);

/** The name of a partition in a write. An empty branch would be stored as the shared memory. */
const WRITTEN_PARTITION = arg.all(PARTITION, (name) =>
  (name as PartitionName).branch === '' ? EMPTY_BRANCH : undefined,
);
const EMPTY_BRANCH: ArgumentIssue = {
  at: '.branch',
  wanted: 'left out, or a text that is not empty',
};

const OPEN = arg.of('the open end', (value) => value === OPEN_END);
const CONFIDENCE = arg.of(
  'a number from 0 to 1',
  (value) => typeof value === 'number' && value >= 0 && value <= 1,
);
const ROW_KIND = arg.oneOf(['current', 'audit']);
const RESOLUTION = arg.of(
  'null or well-formed text without NUL',
  (value) => value === null || !TEXT(value),
);
const CARDINALITY = arg.oneOf(['single-valued', 'multi-valued']);
const EMPTY_PERIOD: ArgumentIssue = { at: '.valid_to', wanted: 'after valid_from' };

/** A row, except for the columns that it shares with its change. */
const ROW = arg.row<FactVersion>(
  (row) =>
    arg.at('fact_id', TEXT(row.fact_id)) ??
    arg.at('object', TEXT(row.object)) ??
    arg.at('provenance_id', TEXT(row.provenance_id)) ??
    arg.at('resolution_strategy_id', TEXT(row.resolution_strategy_id)) ??
    arg.at('lineage', TEXT(row.lineage)) ??
    arg.at('content', CONTENT(row.content)) ??
    arg.at('entry_id', HASH(row.entry_id)) ??
    arg.at('valid_from', START(row.valid_from)) ??
    arg.at('valid_to', END(row.valid_to)) ??
    (row.valid_from < row.valid_to ? undefined : EMPTY_PERIOD) ??
    arg.at('system_time_end', OPEN(row.system_time_end)) ??
    arg.at('confidence', CONFIDENCE(row.confidence)) ??
    arg.at('row_kind', ROW_KIND(row.row_kind)) ??
    arg.at('resolution_id', RESOLUTION(row.resolution_id)) ??
    arg.at('asserted_seq', arg.whole(row.asserted_seq)) ??
    arg.at('asserted_from', START(row.asserted_from)) ??
    arg.at('cardinality', CARDINALITY(row.cardinality)),
);

const KEYS = arg.list(
  arg.row<FactKey>(
    (key) =>
      arg.at('fact_id', TEXT(key.fact_id)) ??
      arg.at('system_time_start', INSTANT(key.system_time_start)),
  ),
);
const ROWS = arg.list(ROW);
const REPEATS = arg.optional(arg.list(HASH));
const READS = arg.optional(
  arg.list(
    arg.row<PartitionRead>(
      (read) =>
        arg.at('partition', WRITTEN_PARTITION(read.partition)) ??
        arg.at('version', arg.whole(read.version)),
    ),
  ),
);
const INHERIT = arg.optional(arg.members({ until: INSTANT, rows: ROWS }));

const WRITE = arg.row<FactWrite>(
  (write) =>
    arg.at('partition', WRITTEN_PARTITION(write.partition)) ??
    arg.at('names', CONTENT(write.names)) ??
    arg.at('version', POSITIVE(write.version)) ??
    arg.at('system_time', INSTANT(write.system_time)) ??
    arg.at('close', KEYS(write.close)) ??
    arg.at('insert', ROWS(write.insert)) ??
    arg.at('repeats', REPEATS(write.repeats)) ??
    arg.at('reads', READS(write.reads)) ??
    arg.at('inherit', INHERIT(write.inherit)) ??
    misplacedRow(write) ??
    misinherited(write),
);

/** Changes of facts. Two of them may change the same partition. */
export const FACT_WRITES = arg.list(WRITE);

/** Changes of facts in one batch. */
export const FACTS = arg.all(FACT_WRITES, (writes) =>
  repeatedPartition(writes as readonly FactWrite[]),
);

/** A row that does not belong to its change. */
function misplacedRow({
  partition,
  version,
  system_time,
  insert,
}: FactWrite): ArgumentIssue | undefined {
  for (let i = 0; i < insert.length; i += 1) {
    const row = insert[i]!;
    const member =
      foreignName(row, partition) ??
      (row.system_time_start !== system_time ? 'system_time_start' : undefined) ??
      (row.seq !== version ? 'seq' : undefined);
    if (member !== undefined) return { at: `.insert.${i}.${member}`, wanted: 'that of the change' };
    if (row.cardinality !== insert[0]!.cardinality)
      return { at: `.insert.${i}.cardinality`, wanted: 'that of the first row' };
  }
  return undefined;
}

/** A fault of the inherited rows, written by an earlier change of another memory. */
function misinherited({
  partition,
  names,
  version,
  system_time,
  inherit,
}: FactWrite): ArgumentIssue | undefined {
  if (inherit === undefined) return undefined;
  const isBranch =
    partition.branch !== undefined || partition.space === erasedName(names.hash).space;
  if (!isBranch)
    return { at: '.partition.branch', wanted: 'given, because only a branch inherits' };
  const { until, rows } = inherit;
  if (until >= system_time)
    return { at: '.inherit.until', wanted: 'before the system_time of the change' };
  let last = 0;
  for (let i = 0; i < rows.length; i += 1) {
    const row = rows[i]!;
    const member = foreignName(row, partition);
    if (member !== undefined)
      return { at: `.inherit.rows.${i}.${member}`, wanted: 'that of the change' };
    const unfit = INHERITED(row);
    if (unfit !== undefined) return { ...unfit, at: `.inherit.rows.${i}${unfit.at}` };
    if (row.system_time_start > until)
      return { at: `.inherit.rows.${i}.system_time_start`, wanted: 'at most `inherit.until`' };
    if (row.asserted_seq > row.seq)
      return { at: `.inherit.rows.${i}.asserted_seq`, wanted: 'at most the seq' };
    last = Math.max(last, row.seq);
  }
  return version === last + 1
    ? undefined
    : { at: '.version', wanted: 'one more than the greatest inherited seq' };
}

const INHERITED = arg.members({
  system_time_start: INSTANT,
  seq: POSITIVE,
  row_kind: arg.of('current', (kind) => kind === 'current'),
});

function foreignName(
  row: FactVersion,
  { space, subject, predicate, branch }: PartitionName,
): string | undefined {
  if (row.space !== space) return 'space';
  if (row.subject !== subject) return 'subject';
  if (row.predicate !== predicate) return 'predicate';
  return row.branch === branch ? undefined : 'branch';
}

function repeatedPartition(writes: readonly FactWrite[]): ArgumentIssue | undefined {
  if (writes.length < 2) return undefined;
  const names = new Set<string>();
  for (const [i, { partition }] of writes.entries()) {
    if (names.size === names.add(nameKey(partition)).size)
      return { at: `.${i}.partition`, wanted: 'changed once in a batch' };
  }
  return undefined;
}

function isStart(value: unknown): boolean {
  return value === OPEN_START || isInstant(value);
}

const QUERY = {
  space: TEXT,
  branch: arg.optional(TEXT),
  subject: arg.optional(TEXT),
  predicate: arg.optional(TEXT),
  lineage: arg.optional(TEXT),
  kind: arg.oneOf(['current', 'audit', 'all']),
  valid: arg.optional(START),
  system: arg.optional(arg.of('an instant or now', (value) => value === 'now' || isInstant(value))),
  after: arg.optional(
    arg.members({
      subject: TEXT,
      predicate: TEXT,
      system_time_start: TEXT,
      valid_from: TEXT,
      fact_id: TEXT,
    }),
  ),
  limit: POSITIVE,
} as const;

const FACT_QUERY = arg.members(QUERY);
const TEXT_QUERY = arg.members({ ...QUERY, text: TEXT });
const VECTOR = arg.of('a Float32Array of finite numbers that are not all zero', hasDirection);
const VECTOR_QUERY = arg.members({ ...QUERY, embedder: TEXT, vector: VECTOR });

const BRANCH_PARTITION_QUERY = arg.members({
  space: TEXT,
  branch: TEXT,
  subject: arg.optional(TEXT),
  predicate: arg.optional(TEXT),
  after: arg.optional(arg.members({ subject: TEXT, predicate: TEXT })),
  limit: POSITIVE,
});

type Checked<Query> = Query & {
  readonly kind: 'current' | 'audit' | 'all';
  readonly limit: number;
};

/** Returns the query with its defaults. Throws `store_invalid_input` for an invalid query. */
export function checkFactQuery(query: FactQuery): Checked<FactQuery> {
  return completed(query, FACT_QUERY);
}

/** Returns the query with its defaults. Throws `store_invalid_input` for an invalid query. */
export function checkTextQuery(query: FactTextQuery): Checked<FactTextQuery> {
  return completed(query, TEXT_QUERY);
}

/** Returns the query with its defaults. Throws `store_invalid_input` for an invalid query. */
export function checkVectorQuery(query: FactVectorQuery): Checked<FactVectorQuery> {
  return completed(query, VECTOR_QUERY);
}

function completed<Query extends FactQuery>(query: Query, of: ArgumentSchema): Checked<Query> {
  checkInput(arg.object, query, 'query');
  const { kind = 'current', limit = FACTS_PAGE } = query;
  const checked = { ...query, kind, limit };
  checkInput(of, checked, 'query');
  return checked;
}

/** Returns the query with its defaults. Throws `store_invalid_input` for an invalid query. */
export function checkBranchPartitionQuery(
  query: BranchPartitionQuery,
): BranchPartitionQuery & { readonly limit: number } {
  checkInput(arg.object, query, 'query');
  const { limit = FACTS_PAGE } = query;
  const checked = { ...query, limit };
  checkInput(BRANCH_PARTITION_QUERY, checked, 'query');
  return checked;
}

/** Vectors to store. All of them have one length. */
export const VECTORS = arg.all(arg.list(arg.members({ id: TEXT, vector: VECTOR })), (given) => {
  const vectors = given as readonly FactVector[];
  const other = vectors.findIndex(({ vector }) => vector.length !== vectors[0]!.vector.length);
  return other === -1
    ? undefined
    : { at: `.${other}.vector`, wanted: 'as long as the first vector' };
});

/** Whether the vector has a direction, so an angle to it can be measured. */
function hasDirection(value: unknown): boolean {
  return (
    value instanceof Float32Array &&
    value.every(Number.isFinite) &&
    value.some((number) => number !== 0)
  );
}
