import { fromBase64, utf8 } from '../bytes/text.ts';

/** A signed note (C2SP signed-note): its text and its signature lines. */
export interface Note {
  /** With the newline at its end. */
  readonly text: string;
  readonly signatures: readonly {
    readonly name: string;
    readonly id: Uint8Array;
    readonly bytes: Uint8Array;
  }[];
}

/** A note that is read as a checkpoint (C2SP tlog-checkpoint). */
export interface Checkpoint extends Note {
  readonly origin: string;
  readonly size: bigint;
  readonly root: Uint8Array;
}

const MAX_BYTES = 1_000_000;
const MAX_SIGNATURES = 100;
const MAX_SIZE = 2n ** 64n - 1n;

/** A checkpoint from its text. Returns the reason if the text has another form. */
export function readCheckpoint(whole: string): Checkpoint | string {
  const note = readNote(whole);
  if (typeof note === 'string') return note;
  const lines = note.text.slice(0, -1).split('\n');
  const [origin = '', size = '', base64 = ''] = lines;
  if (lines.length < 3 || lines.includes('')) return 'has fewer than three lines, or an empty one';
  if (!/^(0|[1-9][0-9]*)$/.test(size) || BigInt(size) > MAX_SIZE)
    return 'has no size in its second line';
  const root = fromBase64(base64);
  if (root === undefined || root.length !== 32) return 'has no root in its third line';
  return { ...note, origin, size: BigInt(size), root };
}

function readNote(whole: string): Note | string {
  if (utf8(whole).length > MAX_BYTES) return 'is too long';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u0009\u000b-\u001f]/.test(whole)) return 'has a control character';
  const end = whole.lastIndexOf('\n\n');
  if (end === -1 || !whole.endsWith('\n')) return 'has no signatures below an empty line';
  const lines = whole.slice(end + 2, -1).split('\n');
  if (lines.length > MAX_SIGNATURES) return 'has too many signatures';
  const signatures = lines.map(readSignature);
  if (!signatures.every((one) => one !== undefined)) return 'has a signature line of another form';
  return { text: whole.slice(0, end + 1), signatures };
}

function readSignature(line: string): Note['signatures'][number] | undefined {
  const [dash, name = '', base64 = '', ...more] = line.split(' ');
  const bytes = fromBase64(base64);
  if (dash !== '\u2014' || name === '' || /[\s+]/u.test(name) || more.length > 0) return undefined;
  if (bytes === undefined || bytes.length < 5) return undefined;
  return { name, id: bytes.subarray(0, 4), bytes: bytes.subarray(4) };
}
