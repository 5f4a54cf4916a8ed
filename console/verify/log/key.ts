import { sha256 } from '../bytes/hash.ts';
import { areEqual, fromBase64, fromHex, hexOf, joined, utf8 } from '../bytes/text.ts';

/** The key of a log or of a witness, as it is written: `name+id+Base64`. */
export interface NoteKey {
  readonly text: string;
  readonly name: string;
  readonly id: Uint8Array;
  readonly type: number;
  readonly key: Uint8Array;
}

export const LOG_TYPE = 0x01;
export const WITNESS_TYPE = 0x04;

// biome-ignore lint/suspicious/noControlCharactersInRegex: a name has none of them
const NAME = /^[^\s+\u0000-\u001f\u007f-\u009f]+$/u;

/** A key from its text. Undefined for a text of another form. */
export function readKey(text: string): NoteKey | undefined {
  const parts = /^([^+]*)\+([0-9a-f]{8})\+(.*)$/s.exec(text);
  if (parts === null) return undefined;
  const [, name = '', id = '', base64 = ''] = parts;
  const bytes = fromBase64(base64);
  if (bytes === undefined || bytes.length !== 33 || !NAME.test(name)) return undefined;
  const key = { text, name, id: fromHex(id), type: bytes[0] as number, key: bytes.subarray(1) };
  return areEqual(idOf(name, bytes), key.id) ? key : undefined;
}

function idOf(name: string, typed: Uint8Array): Uint8Array {
  return sha256(joined(utf8(`${name}\n`), typed)).subarray(0, 4);
}

/** SHA-256 of the text of a key, in groups of four digits: short enough to read aloud. */
export function fingerprint(text: string): string {
  return (hexOf(sha256(utf8(text))).match(/.{4}/g) as string[]).slice(0, 8).join(' ');
}
