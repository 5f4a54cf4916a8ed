import { form, requireForm } from '#base';
import { type Checkpoint, parseCheckpoint } from './checkpoint.ts';
import { attempt, MerkleError } from './errors.ts';
import { KNOWN_LOG, VERIFIER_KEY, VERIFIER_KEYS } from './forms.ts';
import { emptyRoot, sameHash } from './hash.ts';
import { formatNote, type NoteSignature, parseNote, parseSignatures } from './note.ts';
import { requireUse, type VerifierKey } from './note-key.ts';
import { type NoteRefusal, openNote, type VerifiedSignature } from './open-note.ts';

/** A log and the keys of which one must have signed its checkpoints. */
export interface KnownLog {
  readonly origin: string;
  readonly keys: readonly VerifierKey[];
}

/**
 * As of notes; and `malformed_checkpoint`: what is signed is not a checkpoint, or one of size 0 with a root; `wrong_origin`:
 * it is of another log; `not_signed`: no key of the log signed it, whoever else did.
 */
export type CheckpointRefusal = NoteRefusal | 'malformed_checkpoint' | 'wrong_origin';

export type CheckpointVerdict =
  | {
      readonly valid: true;
      readonly checkpoint: Checkpoint;
      /** The text that was signed. */
      readonly text: string;
      /** By keys of the log. */
      readonly signatures: readonly VerifiedSignature[];
      /** By the witnesses that were asked for. One may have signed more than once: see `witnessCount`. */
      readonly cosignatures: readonly VerifiedSignature[];
    }
  | { readonly valid: false; readonly reason: CheckpointRefusal; readonly detail: string };

/**
 * Verifies a signed checkpoint of any origin: that it is that log's, signed by one of its keys, and that no signature of a
 * known key, be it of the log or of a witness, fails. How many witnesses are enough is for the caller to say.
 * @throws MerkleError `bad_key`, `wrong_key` for mistakes in the configuration; ArgumentError `bad_argument`
 */
export function openCheckpoint(
  source: string | Uint8Array,
  log: KnownLog,
  witnesses: readonly VerifierKey[] = [],
): CheckpointVerdict {
  requireForm(KNOWN_LOG, log, 'log');
  requireForm(VERIFIER_KEYS, witnesses, 'witnesses');
  for (const witness of witnesses) requireUse(witness, 'cosignature');
  const note = openNote(source, [...log.keys, ...witnesses]);
  if (!note.valid) return note;
  const checkpoint = attempt(() => parseCheckpoint(note.text));
  if (checkpoint instanceof MerkleError) return refused('malformed_checkpoint', checkpoint.message);
  if (checkpoint.origin !== log.origin) return refused('wrong_origin', `It is not a checkpoint of ${log.origin}.`);
  if (checkpoint.size === 0n && !sameHash(checkpoint.root, emptyRoot())) {
    return refused('malformed_checkpoint', 'A checkpoint of size 0 has the root of the empty tree.');
  }
  const signatures = note.verified.filter(({ key }) => log.keys.some((known) => isSameKey(known, key)));
  const cosignatures = note.verified.filter(({ key }) => witnesses.some((known) => isSameKey(known, key)));
  if (signatures.length === 0) return refused('not_signed', `No key of ${log.origin} signed it.`);
  return { valid: true, checkpoint, text: note.text, signatures, cosignatures };
}

/**
 * How many witnesses stand behind cosignatures. A public key counts once, whatever its names: a cosignature does not say the
 * name of the witness, so whoever has it can put it under another (c2sp.org/tlog-cosignature).
 *
 * @throws ArgumentError `bad_argument`
 */
export function witnessCount(cosignatures: readonly VerifiedSignature[]): number {
  requireForm(form.list(form.members({ key: VERIFIER_KEY })), cosignatures, 'cosignatures');
  return new Set(cosignatures.map(({ key }) => key.publicKey)).size;
}

/**
 * A signed checkpoint with the cosignatures that a witness answered. Those that are by other keys, or do not hold, are left
 * out; one by a key that is there already takes its place.
 * @throws MerkleError `bad_note` when either is malformed; `bad_key`, `wrong_key` for mistakes in the configuration; ArgumentError `bad_argument`
 */
export function addCosignatures(signed: string, answer: string, witnesses: readonly VerifierKey[]): string {
  requireForm(VERIFIER_KEYS, witnesses, 'witnesses');
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
