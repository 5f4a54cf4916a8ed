import { arg, checkArgument } from '#base';
import { parseCheckpoint } from './checkpoint.ts';
import { attempt, MerkleError, malformed } from './errors.ts';
import { isHashBytes } from './hash.ts';
import { NOTE_BYTES_MAX, parseNote } from './note.ts';
import { type Size, wideSize } from './size.ts';
import { readBase64, readDecimal, readHash, readText, writeBase64 } from './strict-text.ts';

/**
 * A proof that an entry is in a log, for any reader with the entry and the public keys
 * (c2sp.org/tlog-proof).
 */
export interface ProofFile {
  /** Index of the entry in the log. */
  readonly index: bigint;
  /** From the entry's sibling to the child of the root. */
  readonly proof: readonly Uint8Array[];
  /** The signed checkpoint, with its cosignatures. */
  readonly signed: string;
  /** Extra bytes for readers. They are unsigned and must not be trusted. */
  readonly extra?: Uint8Array;
}

/** A file to be written. */
export interface ProofFileDraft extends Omit<ProofFile, 'index'> {
  readonly index: Size;
}

/** Larger files are refused. The limit holds a signed checkpoint, and `extra` of about 70 kB. */
export const PROOF_FILE_BYTES_MAX: number = NOTE_BYTES_MAX + 100_000;

const PROOF_DRAFT = arg.members({
  proof: arg.list(arg.any),
  signed: arg.text,
  extra: arg.optional(arg.bytes),
});

const HEADER = 'c2sp.org/tlog-proof@v1';
/** The longest path in a tree of at most 2^64-1 leaves. */
const PATH_MAX = 64;

/**
 * The text of a proof file. Its name ends with `.tlog-proof`.
 *
 * @throws MerkleError `bad_input` for a draft that `parseProofFile` would refuse; ArgumentError
 * `bad_argument`
 */
export function formatProofFile(draft: ProofFileDraft): string {
  checkArgument(PROOF_DRAFT, draft, 'draft');
  const { index, proof, signed, extra } = draft;
  const place = wideSize(index);
  if (place === undefined)
    throw malformed('proof', 'the index is not a whole number from 0 to 2^64-1');
  if (!proof.every(isHashBytes)) throw malformed('proof', 'a hash is not 32 bytes');
  const extraLine = extra === undefined ? [] : [`extra ${writeBase64(extra)}`];
  const text = [HEADER, ...extraLine, `index ${place}`, ...proof.map(writeBase64), '', signed].join(
    '\n',
  );
  parseProofFile(text);
  return text;
}

/**
 * Parses a proof file of any origin. Verifies nothing: see `verifyProofFile`.
 *
 * @throws MerkleError `bad_input`, regardless of the faulty part.
 */
export function parseProofFile(source: string | Uint8Array): ProofFile {
  const read = readText(source, PROOF_FILE_BYTES_MAX);
  if ('problem' in read) throw malformed('proof', read.problem);
  const blank = read.text.indexOf('\n\n');
  if (blank === -1) throw malformed('proof', 'it has no empty line before the checkpoint');
  const lines = read.text.slice(0, blank).split('\n', PATH_MAX + 4);
  if (lines.shift() !== HEADER) throw malformed('proof', `its first line is not ${HEADER}`);
  const extra = lines[0]?.startsWith('extra ') ? extraOf(lines.shift()!) : {};
  const index = indexOf(lines.shift());
  if (lines.length > PATH_MAX) throw malformed('proof', `it has more than ${PATH_MAX} hashes`);
  const proof = lines.map((line) => {
    const hash = readHash(line);
    if (hash === undefined)
      throw malformed('proof', 'a line of the proof is not 32 bytes in Base64');
    return hash;
  });
  const signed = read.text.slice(blank + 2);
  const checkpoint = attempt(() => parseCheckpoint(parseNote(signed).text));
  if (checkpoint instanceof MerkleError)
    throw malformed('proof', 'it ends with no signed checkpoint', checkpoint);
  return { index, proof, signed, ...extra };
}

/** The line is omitted without `extra`, so it is never empty. */
function extraOf(line: string): { extra: Uint8Array } {
  const extra = readBase64(line.slice('extra '.length));
  if (extra === undefined || extra.length === 0)
    throw malformed('proof', 'the extra data is not Base64');
  return { extra };
}

function indexOf(line: string | undefined): bigint {
  const index = line?.startsWith('index ') ? readDecimal(line.slice('index '.length)) : undefined;
  if (index === undefined) throw malformed('proof', 'it has no line with the index');
  return index;
}
