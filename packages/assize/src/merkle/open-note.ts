import { checkArgument } from '#base';
import { signBytes, verifyBytes } from '#canon';
import { cosignedAt } from './cosignature.ts';
import { attempt, MerkleError, malformed } from './errors.ts';
import { SIGNER_KEY, VERIFIER_KEYS } from './forms.ts';
import { type NoteSignature, parseNote } from './note.ts';
import { requireUse, type SignerKey, type VerifierKey } from './note-key.ts';
import { isNoteText } from './strict-text.ts';

/** A valid signature. */
export interface VerifiedSignature {
  readonly key: VerifierKey;
  readonly signature: NoteSignature;
  /** Set for cosignatures only: the time of signing, in seconds since 1970. */
  readonly time?: bigint;
}

/**
 * - `malformed`: the text is not a note.
 * - `bad_signature`: a signature under the name and id of a known key is not that key's signature
 *   of the text.
 * - `not_signed`: no known key signed the text.
 */
export type NoteRefusal = 'malformed' | 'bad_signature' | 'not_signed';

export type NoteVerdict =
  | { readonly valid: true; readonly text: string; readonly verified: readonly VerifiedSignature[] }
  | { readonly valid: false; readonly reason: NoteRefusal; readonly detail: string };

/**
 * Parses a note of any origin and verifies it by the keys (c2sp.org/signed-note, Signatures). Every
 * signature with the name and id of a known key must be valid, and at least one must exist.
 * Signatures of other keys are ignored. Only a valid note returns its text.
 *
 * @throws MerkleError `bad_key` when two different keys have one name and id: a mistake, or an
 * attack, in the configuration; ArgumentError `bad_argument`
 */
export function openNote(source: string | Uint8Array, keys: readonly VerifierKey[]): NoteVerdict {
  checkArgument(VERIFIER_KEYS, keys, 'keys');
  const known = byNameAndId(keys);
  const note = attempt(() => parseNote(source));
  if (note instanceof MerkleError)
    return { valid: false, reason: 'malformed', detail: note.message };
  const verified: VerifiedSignature[] = [];
  for (const signature of note.signatures) {
    const key = known.get(nameAndId(signature.name, signature.keyId));
    if (key === undefined) continue;
    const held = verifySignature(note.text, signature, key);
    if (held === undefined) {
      const detail = `The signature of ${key.name}, key ${key.id}, is not valid.`;
      return { valid: false, reason: 'bad_signature', detail };
    }
    verified.push(held);
  }
  if (verified.length > 0) return { valid: true, text: note.text, verified };
  return { valid: false, reason: 'not_signed', detail: 'No signature is by a known key.' };
}

/**
 * The signature of a note's text. The text ends with a newline.
 *
 * @throws MerkleError `bad_key`, `bad_input`; ArgumentError `bad_argument`
 */
export function signNote(text: string, signer: SignerKey): NoteSignature {
  checkArgument(SIGNER_KEY, signer, 'signer');
  requireUse(signer, 'note');
  if (!isNoteText(text) || !text.endsWith('\n'))
    throw malformed('note', 'the text does not end with a newline');
  const value = Buffer.from(signBytes(Buffer.from(text), signer.privateKey), 'hex');
  return { name: signer.name, keyId: signer.id, value };
}

function verifySignature(
  text: string,
  signature: NoteSignature,
  key: VerifierKey,
): VerifiedSignature | undefined {
  if (key.use === 'note') {
    const value = Buffer.from(signature.value).toString('hex');
    return verifyBytes(Buffer.from(text), value, key.publicKey) ? { key, signature } : undefined;
  }
  const time = cosignedAt(text, signature, key);
  return time === undefined ? undefined : { key, signature, time };
}

function byNameAndId(keys: readonly VerifierKey[]): ReadonlyMap<string, VerifierKey> {
  const known = new Map<string, VerifierKey>();
  for (const key of keys) {
    const place = nameAndId(key.name, key.id);
    const other = known.get(place);
    if (other !== undefined && (other.publicKey !== key.publicKey || other.use !== key.use)) {
      throw new MerkleError(
        'bad_key',
        `Two different keys are configured as ${place}. Remove the wrong one.`,
      );
    }
    known.set(place, key);
  }
  return known;
}

/** No name has a `+`. */
function nameAndId(name: string, id: string): string {
  return `${name}+${id}`;
}
