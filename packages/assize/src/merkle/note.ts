import { arg, checkArgument } from '#base';
import { malformed } from './errors.ts';
import { isKeyName } from './note-key.ts';
import { isNoteText, readBase64, readText, writeBase64 } from './strict-text.ts';

/** A signature line of a text. Its presence proves nothing: see `openNote`. */
export interface NoteSignature {
  readonly name: string;
  /** 8 hex digits. */
  readonly keyId: string;
  /** The bytes after the key id. Their form depends on the key. */
  readonly value: Uint8Array;
}

/**
 * A text and its claimed signatures. Do not use the text before a signature of a trusted key is
 * verified.
 */
export interface Note {
  /** Ends with a newline. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

/**
 * Larger notes are refused. The limit is several times the size of 16 of the largest signatures
 * (ML-DSA-44 and similar).
 */
export const NOTE_BYTES_MAX = 1_000_000;
/** Notes with more signatures are refused. The standard requires at least 16. */
export const SIGNATURES_MAX = 100;

const DASH = '\u2014 ';
const ID_BYTES = 4;
const KEY_ID = /^[0-9a-f]{8}$/;

/**
 * Parses a signed note (c2sp.org/signed-note, Format), from bytes or text of any origin. Verifies
 * nothing.
 *
 * @throws MerkleError `bad_input`
 */
export function parseNote(source: string | Uint8Array): Note {
  const read = readText(source, NOTE_BYTES_MAX);
  if ('problem' in read) throw malformed('note', read.problem);
  // The text can have empty lines. The signatures follow the last one.
  const blank = read.text.lastIndexOf('\n\n');
  if (blank === -1) throw malformed('note', 'it has no empty line before signatures');
  const signatures = parseSignatures(read.text.slice(blank + 2));
  return { text: read.text.slice(0, blank + 1), signatures };
}

/**
 * Parses signature lines, at least one: those of a note, or a witness's answer.
 *
 * @throws MerkleError `bad_input`
 */
export function parseSignatures(text: string): NoteSignature[] {
  if (typeof text !== 'string' || !text.endsWith('\n'))
    throw malformed('note', 'signature lines end with a newline');
  const lines = text.slice(0, -1).split('\n', SIGNATURES_MAX + 1);
  if (lines.length > SIGNATURES_MAX)
    throw malformed('note', `it has more than ${SIGNATURES_MAX} signatures`);
  return lines.map(parseSignature);
}

/**
 * The signed note of a text and its signatures.
 *
 * @throws MerkleError `bad_input` for a note that `parseNote` would refuse; ArgumentError
 * `bad_argument`
 */
export function formatNote(note: Note): string {
  checkArgument(arg.object, note, 'note');
  if (!isNoteText(note.text) || !note.text.endsWith('\n')) {
    throw malformed('note', 'the text must end with a newline and have no other control character');
  }
  const text = `${note.text}\n${formatSignatures(note.signatures)}`;
  parseNote(text);
  return text;
}

/**
 * Signature lines, in the form of a note and of a witness's answer.
 *
 * @throws MerkleError `bad_input`; ArgumentError `bad_argument`
 */
export function formatSignatures(signatures: readonly NoteSignature[]): string {
  checkArgument(arg.list(arg.object), signatures, 'signatures');
  const text = signatures.map(formatSignature).join('');
  parseSignatures(text);
  return text;
}

function formatSignature({ name, keyId, value }: NoteSignature): string {
  if (!isKeyName(name) || !(value instanceof Uint8Array))
    throw malformed('note', 'a signature has a name and bytes');
  if (typeof keyId !== 'string' || !KEY_ID.test(keyId))
    throw malformed('note', 'a key id is not 8 lower-case hex digits');
  return `${DASH}${name} ${writeBase64(Buffer.concat([Buffer.from(keyId, 'hex'), value]))}\n`;
}

function parseSignature(line: string): NoteSignature {
  if (!line.startsWith(DASH))
    throw malformed('note', 'a signature line does not begin with a dash and a space');
  const [name, encoded, ...rest] = line.slice(DASH.length).split(' ', 3);
  if (!isKeyName(name) || encoded === undefined || rest.length > 0) {
    throw malformed('note', 'a signature line is not a name and a signature');
  }
  const bytes = readBase64(encoded);
  if (bytes === undefined || bytes.length <= ID_BYTES) {
    throw malformed('note', 'a signature is not the Base64 of a key id and more');
  }
  return {
    name,
    keyId: Buffer.from(bytes.subarray(0, ID_BYTES)).toString('hex'),
    value: bytes.subarray(ID_BYTES),
  };
}
