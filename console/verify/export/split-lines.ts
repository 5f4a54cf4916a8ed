import { Unreadable } from '../bundle/findings.ts';
import { LINE } from '../bytes/canonical.ts';
import { textOf } from '../bytes/text.ts';

const NEWLINE = 0x0a;

/**
 * The lines of a file that comes in pieces, without their newlines.
 *
 * @throws Unreadable for a line that is too long or is not UTF-8, and for a last line without a
 * newline
 */
export async function* splitLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let number = 1;
  let begun: Uint8Array[] = [];
  let bytes = 0;
  const wait = (part: Uint8Array): void => {
    bytes += part.length;
    if (bytes > LINE.bytes)
      throw new Unreadable('bad_export', `Line ${number} of the export is too long.`);
    begun.push(part);
  };
  for await (const piece of pieces) {
    let from = 0;
    for (let at = piece.indexOf(NEWLINE); at !== -1; at = piece.indexOf(NEWLINE, from)) {
      wait(piece.subarray(from, at));
      const text = textOf(begun.length === 1 ? (begun[0] as Uint8Array) : joinedOf(begun, bytes));
      if (text === undefined)
        throw new Unreadable('bad_export', `Line ${number} of the export is not UTF-8.`);
      yield text;
      [begun, bytes, from] = [[], 0, at + 1];
      number += 1;
    }
    if (from < piece.length) wait(piece.subarray(from));
  }
  if (bytes > 0) throw new Unreadable('bad_export', 'The last line of the export has no newline.');
}

function joinedOf(parts: readonly Uint8Array[], bytes: number): Uint8Array {
  const all = new Uint8Array(bytes);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
