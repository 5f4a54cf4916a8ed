import { type ArgumentIssue, arg, isAssizeError } from '#base';
import { composed, parseCanonical } from '#canon';
import {
  type Batch,
  type BlobRow,
  type EffectKeyRow,
  type EffectRecordRow,
  type EffectTransactionRow,
  type EffectWrite,
  type EntryKind,
  type EntryRow,
  SIDE_BODY_BYTES_MAX,
  SIDE_CHANGES_MAX,
  SIDE_NAME_MAX,
  type SideChange,
} from '#ledger';
import type { Adoption } from './adoption.ts';
import { checkInput, HASH, POSITIVE, SIGNAL, TEXT } from './check-input.ts';
import { FACTS, INSTANT } from './fact-input.ts';

// A row that the columns cannot hold exactly would be read back as another row, and its hash would
// no longer match. The store therefore checks these forms before a row is queued. Other layers
// check the meaning of rows.

/** The default number of entries in a page. */
export const ENTRIES_PAGE = 1_000;

/** The arguments of `retire`. */
export const ADOPTION = arg.options<Adoption>({
  at: TEXT,
  reason: TEXT,
  roots: arg.optional(arg.list(HASH)),
});
export const RETIREMENT = arg.members({ at: TEXT, reason: TEXT });

// A record: a new kind of entry fails to compile here until the kind is added.
const KIND = arg.oneOf(
  Object.keys({
    root: true,
    commit: true,
    rejection: true,
    pending_approval: true,
    delegation: true,
    branch: true,
    key_change: true,
  } satisfies { readonly [kind in EntryKind]: true }),
);

const BEGUN = arg.row<EffectTransactionRow>(
  (row) =>
    arg.at('epoch', POSITIVE(row.epoch)) ??
    arg.at('trajectory_id', TEXT(row.trajectory_id)) ??
    arg.at('body', TEXT(row.body)),
);
const RECORD = arg.row<EffectRecordRow>(
  (row) =>
    arg.at('epoch', POSITIVE(row.epoch)) ??
    arg.at('place', arg.whole(row.place)) ??
    arg.at('record', TEXT(row.record)),
);
const KEY = arg.row<EffectKeyRow>(
  (row) =>
    arg.at('key', HASH(row.key)) ??
    arg.at('epoch', POSITIVE(row.epoch)) ??
    arg.at('n', arg.whole(row.n)),
);
const BEGUN_LIST = arg.optional(arg.list(BEGUN));
const RECORDS = arg.optional(arg.list(RECORD));
const KEYS = arg.optional(arg.list(KEY));
const ENDED = arg.optional(arg.list(POSITIVE));

/** A write of effects. */
export const EFFECTS = arg.row<EffectWrite>(
  (write) =>
    arg.at('fence', POSITIVE(write.fence)) ??
    arg.at('begun', BEGUN_LIST(write.begun)) ??
    arg.at('records', RECORDS(write.records)) ??
    arg.at('keys', KEYS(write.keys)) ??
    arg.at('ended', ENDED(write.ended)),
);

const ENTRY = arg.row<EntryRow>(
  (row) =>
    arg.at('id', HASH(row.id)) ??
    arg.at('seq', arg.whole(row.seq)) ??
    arg.at('trajectory_id', TEXT(row.trajectory_id)) ??
    arg.at('payload', TEXT(row.payload)) ??
    arg.at('kind', KIND(row.kind)),
);
const BLOB = arg.row<BlobRow>(
  (row) => arg.at('hash', HASH(row.hash)) ?? arg.at('text', TEXT(row.text)),
);
const ERASED_ROW = arg.members({ hash: HASH, by: HASH });
const ERASED_ANSWER = arg.members({ key: HASH, by: HASH });

const ENTRIES = arg.list(ENTRY);
const BLOBS = arg.list(BLOB);
const ERASED = arg.optional(arg.list(ERASED_ROW));
const ERASED_ANSWERS = arg.optional(arg.list(ERASED_ANSWER));
const OPTIONAL_EFFECTS = arg.optional(EFFECTS);
const REPEATS = arg.optional(arg.list(HASH));
const OPTIONAL_FACTS = arg.optional(FACTS);
const OPTIONAL_FLAG = arg.optional(arg.flag);

const BATCH_CLOCK = arg.optional(arg.members({ at: INSTANT, maxAheadMs: arg.whole }));

/** A batch. `parent` is not checked: a store only writes a parent that equals the preceding id. */
export const BATCH = arg.row<Batch>(
  (batch) =>
    arg.at('entries', ENTRIES(batch.entries)) ??
    arg.at('blobs', BLOBS(batch.blobs)) ??
    arg.at('erased', ERASED(batch.erased)) ??
    arg.at('erasedAnswers', ERASED_ANSWERS(batch.erasedAnswers)) ??
    arg.at('effects', OPTIONAL_EFFECTS(batch.effects)) ??
    arg.at('repeats', REPEATS(batch.repeats)) ??
    arg.at('facts', OPTIONAL_FACTS(batch.facts)) ??
    arg.at('awaitsFacts', OPTIONAL_FLAG(batch.awaitsFacts)) ??
    arg.at('clock', BATCH_CLOCK(batch.clock)),
);

/** Whether the batch contains nothing to write. */
export function isEmpty({
  entries,
  blobs,
  erased = [],
  erasedAnswers = [],
  effects,
  facts = [],
}: Batch): boolean {
  return (
    effects === undefined &&
    [entries, blobs, erased, erasedAnswers, facts].every(({ length }) => length === 0)
  );
}

/** The options of a group membership. The lease is a timer. Timers have 31 bits. */
export const MEMBERSHIP = arg.members({ leaseMs: arg.wholeFrom(1, 2 ** 31 - 1), signal: SIGNAL });

/** The options of a read snapshot. */
export const SNAPSHOT_READ = arg.optional(arg.members({ byText: arg.optional(arg.flag) }));

export const CLAIM_KEY = arg.of(
  'bytes (Uint8Array), from 16 to 64',
  (value) => value instanceof Uint8Array && value.length >= 16 && value.length <= 64,
);

export const ORACLE_ROW = arg.members({ key: HASH, answer: TEXT, at: TEXT });

export const ANSWER_PAGE = arg.members({ after: arg.optional(HASH), limit: POSITIVE });

export const SNAPSHOT_ROW = arg.members({
  trajectory_id: TEXT,
  seq: arg.whole,
  hash: HASH,
  text: TEXT,
});

const NODE_HASH = arg.of(
  '32 bytes (Uint8Array)',
  (value) => value instanceof Uint8Array && value.length === 32,
);

/** A step of the Merkle log. Its nodes are above the leaves. */
export const LOG_STEP = arg.members({
  size: arg.whole,
  leaves: arg.list(arg.members({ id: HASH, hash: NODE_HASH })),
  nodes: arg.list(arg.members({ level: POSITIVE, index: arg.whole, hash: NODE_HASH })),
});

/** The kind or the key of a side row. */
export const SIDE_NAME = arg.all(
  TEXT,
  arg.of(`text of 1 to ${SIDE_NAME_MAX} characters in composed form (NFC)`, (value) => {
    const name = value as string;
    return name.length > 0 && name.length <= SIDE_NAME_MAX && composed(name) === name;
  }),
);

export const SIDE_PAGE = arg.members({ after: arg.optional(TEXT), limit: POSITIVE });

const SIDE_BODY = arg.of(
  `null, or canonical JSON of at most ${SIDE_BODY_BYTES_MAX} bytes`,
  (value) => value === null || (typeof value === 'string' && isSideBody(value)),
);

function isSideBody(text: string): boolean {
  if (Buffer.byteLength(text) > SIDE_BODY_BYTES_MAX) return false;
  try {
    parseCanonical(text);
    return true;
  } catch (error) {
    if (isAssizeError(error, 'not_canonical')) return false;
    throw error;
  }
}

const EXPECTED = arg.of(
  'null, or a whole number from 1',
  (value) => value === null || (Number.isSafeInteger(value) && (value as number) > 0),
);
const SIDE_CHANGE = arg.row<SideChange>(
  (change) =>
    arg.at('kind', SIDE_NAME(change.kind)) ??
    arg.at('key', SIDE_NAME(change.key)) ??
    arg.at('expected', EXPECTED(change.expected)) ??
    arg.at('body', SIDE_BODY(change.body)),
);
const SIDE_CHANGE_LIST = arg.list(SIDE_CHANGE);
const OBJECTS = arg.list(arg.object);
const TOO_MANY_CHANGES: ArgumentIssue = { at: '', wanted: `at most ${SIDE_CHANGES_MAX} changes` };

/**
 * Returns a copy of the changes. Throws `store_invalid_input` unless each fits a row, and each row
 * is named once.
 */
export function checkSideChanges(changes: readonly SideChange[]): readonly SideChange[] {
  checkInput(OBJECTS, changes, 'changes');
  checkInput(
    (list) => ((list as unknown[]).length > SIDE_CHANGES_MAX ? TOO_MANY_CHANGES : undefined),
    changes,
    'changes',
  );
  const copies = changes.map(({ kind, key, expected, body }) => ({ kind, key, expected, body }));
  checkInput(SIDE_CHANGE_LIST, copies, 'changes');
  // No name has a NUL.
  const names = new Set(copies.map(({ kind, key }) => `${kind}\0${key}`));
  checkInput(
    arg.of('a list that names each row once', () => names.size === copies.length),
    copies,
    'changes',
  );
  return copies;
}

/** The number of log hashes in one call. */
export const NODE_COUNT = arg.wholeFrom(1, 10_000);

export const EFFECT_PAGE = arg.members({
  before: arg.optional(POSITIVE),
  limit: POSITIVE,
  trajectoryId: arg.optional(TEXT),
});

export const OPEN_PAGE = arg.members({
  after: arg.optional(arg.whole),
  limit: arg.optional(POSITIVE),
  trajectoryId: arg.optional(TEXT),
});

const PREFIX = arg.of('8 to 64 hex digits', (value) => /^[0-9a-f]{8,64}$/.test(value as string));

/**
 * Returns the prefix in lower case, because people type ids. Throws `store_invalid_input` unless
 * the prefix is 8 to 64 hex digits.
 */
export function checkPrefix(prefix: string): string {
  checkInput(arg.text, prefix, 'prefix');
  const lower = prefix.toLowerCase();
  checkInput(PREFIX, lower, 'prefix');
  return lower;
}

const PAGE = arg.members({ from: arg.whole, limit: POSITIVE });

/**
 * Returns both options with their defaults. Throws `store_invalid_input` unless `from` is a whole
 * number from 0 and `limit` a whole number from 1.
 */
export function checkPage(options: { from?: number; limit?: number } = {}): {
  from: number;
  limit: number;
} {
  checkInput(arg.object, options, 'options');
  const { from = 0, limit = ENTRIES_PAGE } = options;
  const page = { from, limit };
  checkInput(PAGE, page, 'options');
  return page;
}
