import { isAssizeError, type Json } from '#base';
import { type CanonLimits, DEFAULT_LIMITS, parseCanonical, WORLD_LIMITS } from '#canon';
import type { BlobRow, ErasedRow } from './blob-row.ts';
import type { EntryRow } from './entry.ts';
import type { Hash } from './hash.ts';
import { isHash } from './is-hash.ts';
import { isPayload } from './shape.ts';

/**
 * An export is JSON Lines: one canonical JSON object per line, each ended by a newline. The header
 * comes first, then the entries in log order, then the trailer. Each entry follows the blobs that
 * no earlier entry needed. The same ledger has the same bytes in every store.
 */
export const FORMAT = 'assize/export/v1';

export const HEADER: string = `{"format":"${FORMAT}"}\n`;

/** The line of a blob. The blob's text is canonical JSON and is embedded unchanged. */
export function blobLine({ hash, text }: BlobRow): string {
  return `{"blob":${text},"hash":"${hash}"}\n`;
}

/** The line of a blob with an erased text, with the id of the erasing entry. */
export function erasedLine({ hash, by }: ErasedRow): string {
  return `{"by":"${by}","erased":"${hash}"}\n`;
}

/**
 * The line of an entry. The payload is embedded unchanged and contains the other columns as fields.
 */
export function entryLine({ id, payload }: EntryRow): string {
  return `{"id":"${id}","payload":${payload}}\n`;
}

export function trailerLine(entries: number, root: Uint8Array): string {
  return `{"entries":${entries},"root":"${Buffer.from(root).toString('hex')}"}\n`;
}

export type Line =
  | { readonly type: 'header' }
  | { readonly type: 'blob'; readonly blob: BlobRow }
  | { readonly type: 'erased'; readonly erased: ErasedRow }
  | { readonly type: 'entry'; readonly row: EntryRow }
  | { readonly type: 'trailer'; readonly entries: number; readonly root: string };

/** The largest line holds one blob: it may be a whole state. */
export const LINE_BYTES_MAX: number = WORLD_LIMITS.bytesMax + 200;

/** The blob is nested one level deeper in the line. */
const LINE_LIMITS: Partial<CanonLimits> = {
  ...WORLD_LIMITS,
  bytesMax: LINE_BYTES_MAX,
  depthMax: DEFAULT_LIMITS.depthMax + 1,
};

/**
 * Parses a line without its newline. Returns a description of the violation for a malformed line.
 * Hashes are not verified here.
 */
export function readLine(text: string): Line | string {
  let value: Json;
  try {
    value = parseCanonical(text, LINE_LIMITS);
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    return 'it is not canonical JSON';
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return 'it is not an object';
  const line = value as { readonly [name: string]: Json };
  switch (Object.keys(line).join()) {
    case 'format':
      return line['format'] === FORMAT ? { type: 'header' } : `its format is not ${FORMAT}`;
    case 'blob,hash':
      if (!isHash(line['hash'])) return 'its hash is not valid';
      return {
        type: 'blob',
        blob: { hash: line['hash'], text: inner(text, '{"blob":', ',"hash":"') },
      };
    case 'by,erased':
      if (!isHash(line['by']) || !isHash(line['erased'])) return 'its hashes are not valid';
      return { type: 'erased', erased: { hash: line['erased'], by: line['by'] } };
    case 'id,payload':
      return entryOf(text, line['id'], line['payload']);
    case 'entries,root':
      if (!Number.isSafeInteger(line['entries']) || !isHash(line['root']))
        return 'its trailer is not valid';
      return { type: 'trailer', entries: line['entries'] as number, root: line['root'] };
    default:
      return 'it is not an entry, a blob, the header or the trailer';
  }
}

function entryOf(text: string, id: Json | undefined, payload: Json | undefined): Line | string {
  if (!isHash(id)) return 'its id is not a hash';
  if (!isPayload(payload)) return 'its payload is not that of an entry';
  const { trajectory_id, parent, seq, kind } = payload;
  const start = `{"id":"${id}","payload":`.length;
  return {
    type: 'entry',
    row: { id: id as Hash, trajectory_id, parent, seq, kind, payload: text.slice(start, -1) },
  };
}

/** The text between two markers of a canonical line. The second marker is the last of its kind. */
function inner(text: string, before: string, after: string): string {
  return text.slice(before.length, text.lastIndexOf(after));
}
