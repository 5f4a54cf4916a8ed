import type { Batch, EntryKind } from '#ledger';
import type { OracleRow } from '#oracle';
import { StoreError } from './errors.ts';

// A row that the columns can't hold exactly would come back as another row, and its hash would no longer fit. So the
// shape is checked before anything is queued; what the rows mean is judged elsewhere.

/** Entries that one page holds unless the caller asks for another number. */
export const ENTRIES_PAGE = 1_000;

const HASH = /^[0-9a-f]{64}$/;
const PREFIX = /^[0-9a-f]{8,64}$/;

// A record, so that a new kind of entry fails to compile here until it is added.
const KINDS: { readonly [kind in EntryKind]: true } = {
  root: true,
  commit: true,
  rejection: true,
  pending_approval: true,
  delegation: true,
  branch: true,
};

/** Throws `store_invalid_input` unless every row of the batch can be stored and read back exactly. */
export function checkBatch(batch: Batch): void {
  for (const [index, row] of batch.entries.entries()) {
    const fault = !HASH.test(row.id)
      ? 'id'
      : row.parent !== null && !HASH.test(row.parent)
        ? 'parent'
        : !Number.isSafeInteger(row.seq) || row.seq < 0
          ? 'seq'
          : !isText(row.trajectory_id)
            ? 'trajectory_id'
            : !isText(row.payload)
              ? 'payload'
              : Object.hasOwn(KINDS, row.kind)
                ? undefined
                : 'kind';
    if (fault !== undefined) refuse(`entry ${index} of the batch has no valid ${fault}`, { index, member: fault });
  }
  for (const [index, row] of batch.blobs.entries()) {
    const fault = !HASH.test(row.hash) ? 'hash' : isText(row.text) ? undefined : 'text';
    if (fault !== undefined) refuse(`blob ${index} of the batch has no valid ${fault}`, { index, member: fault });
  }
}

/** Throws `store_invalid_input` unless it is 64 lower-case hex digits. */
export function checkHash(hash: string, name: string): void {
  if (!HASH.test(hash)) refuse(`${name} must be 64 lower-case hex digits`, { [name]: hash });
}

/** Throws `store_invalid_input` unless the text can be stored and read back exactly. */
export function checkText(text: string, name: string): void {
  if (!isText(text)) refuse(`${name} must be well-formed text`, { member: name });
}

/** Throws `store_invalid_input` unless the row can be stored and read back exactly. */
export function checkOracleRow(row: OracleRow): void {
  checkHash(row.key, 'key');
  checkText(row.answer, 'answer');
  checkText(row.at, 'at');
}

/** The prefix in lower case, because people type ids; throws `store_invalid_input` unless it is 8 to 64 hex digits. */
export function checkPrefix(prefix: string): string {
  const lower = prefix.toLowerCase();
  if (!PREFIX.test(lower)) refuse('an id is found by its first 8 to 64 hex digits', { prefix });
  return lower;
}

/** Both with their defaults; throws `store_invalid_input` unless they are whole numbers from 0 and 1. */
export function checkPage(options: { from?: number; limit?: number } = {}): { from: number; limit: number } {
  const { from = 0, limit = ENTRIES_PAGE } = options;
  if (!Number.isSafeInteger(from) || from < 0) refuse('from must be a whole number from 0', { from });
  if (!Number.isSafeInteger(limit) || limit < 1) refuse('limit must be a whole number from 1', { limit });
  return { from, limit };
}

// A lone surrogate has no UTF-8 bytes: the database would store a replacement character in its place.
function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed();
}

function refuse(what: string, evidence: Readonly<Record<string, unknown>>): never {
  throw new StoreError('store_invalid_input', `The store was given a wrong argument: ${what}; nothing was written.`, {
    evidence,
  });
}
