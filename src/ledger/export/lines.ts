import { isAssizeError, type Json } from '#base';
import { type CanonLimits, DEFAULT_LIMITS, parseCanonical, WORLD_LIMITS } from '#canon';
import type { BlobRow, ErasedRow } from '../entry/blob-row.ts';
import type { EntryRow } from '../entry/entry.ts';
import type { Hash } from '../entry/hash.ts';
import { isHash } from '../entry/is-hash.ts';
import { isPayload } from '../entry/shape.ts';

/**
 * An export is JSON Lines: one canonical JSON object a line, each ended by a newline. First the header, then entries in the
 * order of the log, each behind the blobs that it is the first to need, then the trailer. The same ledger has the same
 * bytes, whatever store it is in.
 */
export const FORMAT = 'assize/export/v1';

export const HEADER: string = `{"format":"${FORMAT}"}\n`;

/** A blob: its text is canonical JSON and stands in the line as it is. */
export function blobLine({ hash, text }: BlobRow): string {
  return `{"blob":${text},"hash":"${hash}"}\n`;
}

/** A blob whose text was erased, and the entry that says so. */
export function erasedLine({ hash, by }: ErasedRow): string {
  return `{"by":"${by}","erased":"${hash}"}\n`;
}

/** An entry: likewise its payload. The other columns are members of the payload. */
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

/** A line holds a blob at most, which may be a whole world. */
export const LINE_BYTES_MAX: number = WORLD_LIMITS.bytesMax + 200;

/** The blob stands in it under one more level. */
const LINE_LIMITS: Partial<CanonLimits> = {
  ...WORLD_LIMITS,
  bytesMax: LINE_BYTES_MAX,
  depthMax: DEFAULT_LIMITS.depthMax + 1,
};

/**
 * What a line (without its newline) says, or what is wrong with it, in words. That hashes are those of what they name is
 * not looked at here.
 */
export function readLine(text: string): Line | string {
  let value: Json;
  try {
    value = parseCanonical(text, LINE_LIMITS);
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    return 'it is not canonical JSON';
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'it is no object';
  const line = value as { readonly [name: string]: Json };
  switch (Object.keys(line).join()) {
    case 'format':
      return line['format'] === FORMAT ? { type: 'header' } : `it is of another format than ${FORMAT}`;
    case 'blob,hash':
      if (!isHash(line['hash'])) return 'its hash is none';
      return { type: 'blob', blob: { hash: line['hash'], text: inner(text, '{"blob":', ',"hash":"') } };
    case 'by,erased':
      if (!isHash(line['by']) || !isHash(line['erased'])) return 'its hashes are none';
      return { type: 'erased', erased: { hash: line['erased'], by: line['by'] } };
    case 'id,payload':
      return entryOf(text, line['id'], line['payload']);
    case 'entries,root':
      if (!Number.isSafeInteger(line['entries']) || !isHash(line['root'])) return 'its trailer is none';
      return { type: 'trailer', entries: line['entries'] as number, root: line['root'] };
    default:
      return 'it is neither an entry, nor a blob, nor the header or the trailer';
  }
}

function entryOf(text: string, id: Json | undefined, payload: Json | undefined): Line | string {
  if (!isHash(id)) return 'its id is no hash';
  if (!isPayload(payload)) return 'its payload is none of an entry';
  const { trajectory_id, parent, seq, kind } = payload;
  const start = `{"id":"${id}","payload":`.length;
  return { type: 'entry', row: { id: id as Hash, trajectory_id, parent, seq, kind, payload: text.slice(start, -1) } };
}

/** The text between two marks of a canonical line; the second one is its last of that kind. */
function inner(text: string, before: string, after: string): string {
  return text.slice(before.length, text.lastIndexOf(after));
}
