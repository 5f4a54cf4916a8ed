import { arg, checkArgument } from '#base';
import { type Checkpoint, parseCheckpoint } from './checkpoint.ts';
import { attempt, MerkleError } from './errors.ts';
import { KNOWN_LOG, VERIFIER_KEY, VERIFIER_KEYS } from './forms.ts';
import { emptyRoot, sameHash } from './hash.ts';
import { formatNote, type NoteSignature, parseNote, parseSignatures } from './note.ts';
import { requireUse, type VerifierKey } from './note-key.ts';
import { type NoteRefusal, openNote, type VerifiedSignature } from './open-note.ts';

/**
 * A log and its keys. One of them must have signed its checkpoints. A log whose key has changed has
 * several.
 */
export interface KnownLog {
  /** Default: the name of the key that signed, where a new key of the log has a new name. */
  readonly origin?: string;
  readonly keys: readonly VerifierKey[];
}

/**
 * As for notes, and: `malformed_checkpoint`: the signed text is not a checkpoint, or has size 0
 * with a root. `wrong_origin`: it belongs to another log. `not_signed`: no key of the log signed
 * it, even if others did.
 */
export type CheckpointRefusal = NoteRefusal | 'malformed_checkpoint' | 'wrong_origin';

export type CheckpointVerdict =
  | {
      readonly valid: true;
      readonly checkpoint: Checkpoint;
      /** The signed text. */
      readonly text: string;
      /** By keys of the log. */
      readonly signatures: readonly VerifiedSignature[];
      /** By the requested witnesses. One may have signed more than once: see `witnessCount`. */
      readonly cosignatures: readonly VerifiedSignature[];
    }
  | { readonly valid: false; readonly reason: CheckpointRefusal; readonly detail: string };

/**
 * Verifies a signed checkpoint of any origin: it belongs to the log, one of the log's keys signed
 * it, and no signature of a known key of the log or of a witness is invalid. The caller decides how
 * many witnesses are enough.
 *
 * @throws MerkleError `bad_key` for mistakes in the configuration; ArgumentError `bad_argument`
 */
export function openCheckpoint(
  source: string | Uint8Array,
  log: KnownLog,
  witnesses: readonly VerifierKey[] = [],
): CheckpointVerdict {
  checkArgument(KNOWN_LOG, log, 'log');
  checkArgument(VERIFIER_KEYS, witnesses, 'witnesses');
  for (const witness of witnesses) requireUse(witness, 'cosignature');
  const note = openNote(source, [...log.keys, ...witnesses]);
  if (!note.valid) return note;
  const checkpoint = attempt(() => parseCheckpoint(note.text));
  if (checkpoint instanceof MerkleError) return refused('malformed_checkpoint', checkpoint.message);
  const origins = log.origin === undefined ? log.keys.map(({ name }) => name) : [log.origin];
  if (!origins.includes(checkpoint.origin))
    return refused('wrong_origin', `The checkpoint does not belong to ${origins.join(' or ')}.`);
  if (checkpoint.size === 0n && !sameHash(checkpoint.root, emptyRoot())) {
    return refused(
      'malformed_checkpoint',
      'A checkpoint of size 0 has the root of the empty tree.',
    );
  }
  const signatures = note.verified.filter(
    ({ key }) =>
      log.keys.some((known) => isSameKey(known, key)) &&
      (log.origin !== undefined || checkpoint.origin === key.name),
  );
  const cosignatures = note.verified.filter(({ key }) =>
    witnesses.some((known) => isSameKey(known, key)),
  );
  if (signatures.length === 0)
    return refused('not_signed', `No key of ${checkpoint.origin} signed it.`);
  return { valid: true, checkpoint, text: note.text, signatures, cosignatures };
}

/**
 * Number of witnesses behind cosignatures. A public key counts once, under any number of names. A
 * cosignature does not contain the witness's name, so any holder can copy it under another
 * (c2sp.org/tlog-cosignature).
 *
 * @throws ArgumentError `bad_argument`
 */
export function witnessCount(cosignatures: readonly VerifiedSignature[]): number {
  checkArgument(arg.list(arg.members({ key: VERIFIER_KEY })), cosignatures, 'cosignatures');
  return new Set(cosignatures.map(({ key }) => key.publicKey)).size;
}

/**
 * A signed checkpoint with the cosignatures of a witness's answer. Invalid cosignatures, and those
 * by other keys, are omitted. A cosignature by an existing key replaces the earlier one.
 *
 * @throws MerkleError `bad_input` when either is malformed; `bad_key` for mistakes in the
 * configuration; ArgumentError `bad_argument`
 */
export function addCosignatures(
  signed: string,
  answer: string,
  witnesses: readonly VerifierKey[],
): string {
  checkArgument(VERIFIER_KEYS, witnesses, 'witnesses');
  for (const witness of witnesses) requireUse(witness, 'cosignature');
  const note = parseNote(signed);
  const signatures = new Map(note.signatures.map((signature) => [keyOf(signature), signature]));
  for (const signature of parseSignatures(answer)) {
    const alone = formatNote({ text: note.text, signatures: [signature] });
    if (openNote(alone, witnesses).valid) signatures.set(keyOf(signature), signature);
  }
  return formatNote({ text: note.text, signatures: [...signatures.values()] });
}

function isSameKey(a: VerifierKey, b: VerifierKey): boolean {
  return a.name === b.name && a.id === b.id;
}

function keyOf({ name, keyId }: NoteSignature): string {
  return `${name}+${keyId}`;
}

function refused(reason: CheckpointRefusal, detail: string): CheckpointVerdict {
  return { valid: false, reason, detail };
}
