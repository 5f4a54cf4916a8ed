import { arg, checkArgument, isAssizeError } from 'assize/internal/base';
import { readCanonical } from 'assize/internal/canon';
import {
  blobLine,
  type EntryRow,
  entryLine,
  erasedLine,
  type FaultCode,
  type Hash,
  HEADER,
  LedgerFault,
  type LedgerStore,
  type LogStore,
  type Payload,
  readRow,
  referencesOf,
  trailerLine,
  writParent,
  writsNamedBy,
} from 'assize/internal/ledger';
import { Frontier, leafHash } from 'assize/internal/merkle';
import { ExportError } from './errors.ts';

export interface ExportOptions {
  /** Number of log entries to export, from the start. Default: all. */
  readonly size?: number;
  /** Called after every page, with the number of entries written. */
  readonly onProgress?: (entries: number) => void;
}

/** The parts of a store that an export reads. */
export type ExportedStore = Pick<LedgerStore, 'blob' | 'erasedBy'> &
  Pick<LogStore, 'logSize' | 'logged' | 'logIndex'>;

const EXPORT_OPTIONS = arg.members({ size: arg.optional(arg.number) });

const PAGE = 1_000;

/**
 * The lines of an export: the entries of the log in order. The trailer's root equals the root of a
 * checkpoint of that size. Entries without a log position are left out, so call `integrateLog`
 * first. The export does not validate: an altered entry is exported unchanged and found by
 * `verify`. A log with a missing entry cannot be exported, because a shorter log would look
 * complete.
 *
 * @throws LedgerFault for a payload or blob that is missing or is not valid JSON; ExportError
 * `bad_export` for a missing log entry; ArgumentError `bad_argument`
 */
export async function* exportLines(
  store: ExportedStore,
  options: ExportOptions = {},
): AsyncGenerator<string> {
  checkArgument(EXPORT_OPTIONS, options, 'options');
  const logged = await store.logSize();
  const size = Math.min(options.size ?? logged, logged);
  const frontier = new Frontier();
  const written = new Set<Hash>();
  yield HEADER;
  while (frontier.size < size) {
    const rows = await store.logged(frontier.size, Math.min(PAGE, size - frontier.size));
    await requireAll(store, rows, frontier.size);
    for (const row of rows) {
      const payload = payloadOf(row);
      for (const hash of referencesOf(payload)) {
        if (!written.has(hash)) yield await referred(store, row, hash, size);
        written.add(hash);
      }
      for (const id of writsNamedBy(payload)) yield* writBlobs(store, row, id, written);
      yield entryLine(row);
      frontier.append([leafHash(row.payload)]);
    }
    options.onProgress?.(frontier.size);
  }
  yield trailerLine(frontier.size, frontier.root());
}

/** Rows arrive in order of position. If the last row has its position, all rows have theirs. */
async function requireAll(
  store: ExportedStore,
  rows: readonly EntryRow[],
  from: number,
): Promise<void> {
  const last = rows.at(-1);
  if (last !== undefined && (await store.logIndex(last.id)) === from + rows.length - 1) return;
  throw new ExportError(
    'bad_export',
    `The log cannot be exported: an entry from position ${from} on is missing. Find it with assize verify --database and restore it from a backup.`,
    { evidence: { from } },
  );
}

/** A writ newer than the root is a blob under its own id, and so may its ancestors be. */
async function* writBlobs(
  store: ExportedStore,
  row: EntryRow,
  id: Hash,
  written: Set<Hash>,
): AsyncGenerator<string> {
  for (let next: Hash | undefined = id; next !== undefined && !written.has(next); ) {
    written.add(next);
    const text = await store.blob(next);
    if (text === undefined) return;
    yield blobLine({ hash: next, text: inOneLine(row, text) });
    read(row, text);
    next = writParent(text);
  }
}

async function referred(
  store: ExportedStore,
  row: EntryRow,
  hash: Hash,
  size: number,
): Promise<string> {
  const text = await store.blob(hash);
  if (text === undefined) {
    const by = await store.erasedBy(hash);
    const place = by === undefined ? undefined : await store.logIndex(by);
    if (by !== undefined && place !== undefined && place < size) return erasedLine({ hash, by });
    if (by !== undefined)
      throw fault(
        row,
        'blob_missing',
        `the blob ${hash} was erased by ${by}, which is after the exported entries; export more entries`,
      );
    throw fault(row, 'blob_missing', `the blob ${hash} is missing`);
  }
  return blobLine({ hash, text: inOneLine(row, text) });
}

function payloadOf(row: EntryRow): Payload {
  inOneLine(row, row.payload);
  read(row, row.payload);
  return readRow(row).payload;
}

/** Canonical JSON contains no newline. */
function inOneLine(row: EntryRow, text: string): string {
  if (text.includes('\n')) throw fault(row, 'not_canonical', 'a stored text has a newline');
  return text;
}

function read(row: EntryRow, text: string): unknown {
  try {
    return readCanonical(text);
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    throw fault(row, 'not_canonical', 'a stored text is no longer canonical JSON', error);
  }
}

function fault(
  { trajectory_id, seq }: EntryRow,
  code: FaultCode,
  detail: string,
  cause?: unknown,
): LedgerFault {
  return new LedgerFault({ trajectory_id, seq, code, detail }, cause);
}
