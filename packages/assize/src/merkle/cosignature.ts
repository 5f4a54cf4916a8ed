import { checkArgument } from '#base';
import { signBytes, verifyBytes } from '#canon';
import { parseCheckpoint } from './checkpoint.ts';
import { attempt, MerkleError } from './errors.ts';
import { NOTE_SIGNATURE, SIGNER_KEY, VERIFIER_KEY } from './forms.ts';
import type { NoteSignature } from './note.ts';
import { requireUse, type SignerKey, type VerifierKey } from './note-key.ts';
import { type Size, wideSize } from './size.ts';

const TIME_BYTES = 8;
const SIGNATURE_BYTES = 64;
/** c2sp.org/tlog-cosignature, Format. */
const TIME_MAX = 2n ** 63n - 1n;

/**
 * A witness's signature over the text of a checkpoint. It states: at that time, in seconds since
 * 1970, this is the largest tree of that log that the witness has seen, and it continues every
 * earlier one. Only for records that `decideCheckpoint` allowed.
 *
 * @throws MerkleError `bad_key`, `bad_argument`, `bad_checkpoint`; ArgumentError `bad_argument`
 */
export function cosign(text: string, signer: SignerKey, timeSeconds: Size): NoteSignature {
  checkArgument(SIGNER_KEY, signer, 'signer');
  requireUse(signer, 'cosignature');
  parseCheckpoint(text);
  const time = wideSize(timeSeconds);
  if (time === undefined || time === 0n || time > TIME_MAX) {
    throw new MerkleError(
      'bad_argument',
      'The time of a cosignature is a whole number of seconds from 1 to 2^63-1.',
    );
  }
  const value = Buffer.alloc(TIME_BYTES + SIGNATURE_BYTES);
  value.writeBigUInt64BE(time);
  value.write(signBytes(cosignedBytes(text, time), signer.privateKey), TIME_BYTES, 'hex');
  return { name: signer.name, keyId: signer.id, value };
}

/**
 * The time, in seconds since 1970, at which the witness cosigned the text. Undefined if the
 * signature is not the witness's cosignature of the text.
 *
 * @throws MerkleError `bad_key`; ArgumentError `bad_argument`
 */
export function cosignedAt(
  text: string,
  signature: NoteSignature,
  witness: VerifierKey,
): bigint | undefined {
  checkArgument(NOTE_SIGNATURE, signature, 'signature');
  checkArgument(VERIFIER_KEY, witness, 'witness');
  requireUse(witness, 'cosignature');
  const value = Buffer.from(signature.value);
  if (value.length !== TIME_BYTES + SIGNATURE_BYTES) return undefined;
  if (attempt(() => parseCheckpoint(text)) instanceof MerkleError) return undefined;
  const time = value.readBigUInt64BE();
  const holds = verifyBytes(
    cosignedBytes(text, time),
    value.toString('hex', TIME_BYTES),
    witness.publicKey,
  );
  return holds && time <= TIME_MAX ? time : undefined;
}

/** c2sp.org/tlog-cosignature, Ed25519 signed message. */
function cosignedBytes(text: string, time: bigint): Buffer {
  return Buffer.from(`cosignature/v1\ntime ${time}\n${text}`);
}
