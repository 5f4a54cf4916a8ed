import type { Payload } from '#ledger';

/**
 * The texts that stand in a row for an archived text. Canonical JSON never starts with `@`.
 *
 * `@INDEX` stands for the payload of the entry with that index in the Merkle log. The letters `h`
 * (has a halt) and `r` (resolves a pending entry) follow, for queries that search payloads.
 * `@SEGMENT.LINE` stands for a blob: its line among the blobs of a segment, from 0.
 */
const ENTRY = /^@(0|[1-9]\d{0,15})(h?r?)$/;
const BLOB = /^@(0|[1-9]\d{0,15})\.(0|[1-9]\d{0,15})$/;

const AT = 64;

/** Whether a text of a row can be a marker. */
export function isMarker(text: string): boolean {
  return text.charCodeAt(0) === AT;
}

/** The letters of a payload in its marker. */
export function lettersOf(text: string, payload: Payload): string {
  const resolves = 'resolves' in payload && payload.resolves !== undefined;
  return (text.includes('"assize.halt"') ? 'h' : '') + (resolves ? 'r' : '');
}

export function entryMarker(index: number, letters: string): string {
  return `@${index}${letters}`;
}

/** The index of an archived entry in the log. Undefined if the text is not its marker. */
export function markedEntry(text: string): number | undefined {
  const found = ENTRY.exec(text);
  return found === null ? undefined : Number(found[1]);
}

export function blobMarker(segment: number, line: number): string {
  return `@${segment}.${line}`;
}

/** The place of an archived blob. Undefined if the text is not the marker of one. */
export function markedBlob(
  text: string,
): { readonly segment: number; readonly line: number } | undefined {
  const found = BLOB.exec(text);
  return found === null ? undefined : { segment: Number(found[1]), line: Number(found[2]) };
}
