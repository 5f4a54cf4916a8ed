import { arg, checkArgument } from '#base';
import { type Checkpoint, parseCheckpoint } from './checkpoint.ts';
import { attempt, MerkleError, malformed } from './errors.ts';
import { isHashBytes } from './hash.ts';
import { NOTE_BYTES_MAX, parseNote } from './note.ts';
import { type Size, wideSize } from './size.ts';
import { readDecimal, readHash, readText, writeBase64 } from './strict-text.ts';

/** A log's request to a witness (c2sp.org/tlog-witness, add-checkpoint). */
export interface AddCheckpoint {
  /** The size that the log expects the witness to have recorded, or 0. */
  readonly old: bigint;
  /** From `old` to the size of the checkpoint. */
  readonly proof: readonly Uint8Array[];
  /** The checkpoint under its signatures, not verified. */
  readonly checkpoint: Checkpoint;
  /** The signed checkpoint, as it was sent. */
  readonly signed: string;
}

/** A request with more hashes is refused. */
export const PROOF_HASHES_MAX = 63;
/** A longer request is refused. A server can stop reading there. */
export const REQUEST_BYTES_MAX: number = NOTE_BYTES_MAX + 4_000;

/**
 * The body of a request.
 *
 * @throws MerkleError `bad_input`, `bad_checkpoint` for a request that `parseAddCheckpoint` would
 * refuse; ArgumentError `bad_argument`
 */
export function formatAddCheckpoint(
  old: Size,
  proof: readonly Uint8Array[],
  signed: string,
): string {
  checkArgument(arg.list(arg.any), proof, 'proof');
  checkArgument(arg.text, signed, 'signed');
  const size = wideSize(old);
  if (size === undefined)
    throw malformed('request', 'the old size is not a whole number from 0 to 2^64-1');
  if (!proof.every(isHashBytes)) throw malformed('request', 'a hash of the proof is not 32 bytes');
  const body = [`old ${size}`, ...proof.map(writeBase64), '', signed].join('\n');
  parseAddCheckpoint(body);
  return body;
}

/**
 * Parses the body of a request of any origin. Verifies nothing.
 *
 * @throws MerkleError `bad_input`, regardless of the faulty part.
 */
export function parseAddCheckpoint(body: string | Uint8Array): AddCheckpoint {
  const read = readText(body, REQUEST_BYTES_MAX);
  if ('problem' in read) throw malformed('request', read.problem);
  const blank = read.text.indexOf('\n\n');
  if (blank === -1) throw malformed('request', 'it has no empty line before the checkpoint');
  const [first, ...lines] = read.text.slice(0, blank).split('\n', PROOF_HASHES_MAX + 2);
  if (lines.length > PROOF_HASHES_MAX)
    throw malformed('request', `it has more than ${PROOF_HASHES_MAX} hashes`);
  const old = first?.startsWith('old ') ? readDecimal(first.slice('old '.length)) : undefined;
  if (old === undefined) throw malformed('request', 'its first line is not an old size');
  const proof = lines.map((line) => {
    const hash = readHash(line);
    if (hash === undefined)
      throw malformed('request', 'a line of the proof is not 32 bytes in Base64');
    return hash;
  });
  const signed = read.text.slice(blank + 2);
  return { old, proof, checkpoint: checkpointOf(signed), signed };
}

/**
 * The size that a witness has recorded, from its answer 409. Undefined if the body is not
 * `<size>\n`.
 */
export function parseRecordedSize(body: string): bigint | undefined {
  return typeof body === 'string' && body.endsWith('\n')
    ? readDecimal(body.slice(0, -1))
    : undefined;
}

function checkpointOf(signed: string): Checkpoint {
  const checkpoint = attempt(() => parseCheckpoint(parseNote(signed).text));
  if (checkpoint instanceof MerkleError)
    throw malformed('request', 'it ends with no signed checkpoint', checkpoint);
  return checkpoint;
}
