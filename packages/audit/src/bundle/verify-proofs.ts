import { isAssizeError } from 'assize/internal/base';
import {
  type CheckpointVerdict,
  leafHash,
  openCheckpoint,
  type ProofFile,
  parseProofFile,
  parseVerifierKey,
  type VerifierKey,
  verifyInclusion,
} from 'assize/internal/merkle';
import { must } from './fault.ts';
import {
  type BundledEntry,
  type BundleFiles,
  type BundleKeys,
  CHECKPOINT,
  proofName,
} from './form.ts';
import { textOf } from './read-files.ts';

export type OpenedCheckpoint = Extract<CheckpointVerdict, { valid: true }> & {
  readonly signed: string;
  readonly log: VerifierKey;
  readonly witnesses: readonly VerifierKey[];
};

/** The keys that a verifier takes from elsewhere. */
export interface TrustedKeys {
  readonly logKey?: VerifierKey;
  readonly witnesses: readonly VerifierKey[];
}

/** @throws BundleRefusal */
export function openBundleCheckpoint(
  files: BundleFiles,
  keys: BundleKeys,
  trusted: TrustedKeys,
): OpenedCheckpoint {
  const log = keyIn(keys.log);
  must(log?.use === 'note', 'bad_form', 'the key of the log in keys.json is not a key of a log');
  const { logKey } = trusted;
  const isOurs =
    logKey === undefined || (logKey.name === log.name && logKey.publicKey === log.publicKey);
  must(isOurs, 'other_key', `the bundle is of the log ${log.name} with the key ${keys.log}`);
  const named = keys.witnesses.map(keyIn).filter((key) => key?.use === 'cosignature');
  const isSound =
    named.length === keys.witnesses.length && new Set(keys.witnesses).size === named.length;
  must(isSound, 'bad_form', 'keys.json names a witness twice, or a key that is not of a witness');
  const witnesses = named as VerifierKey[];
  const signed = textOf(files.get(CHECKPOINT) as Uint8Array);
  must(signed !== undefined, 'bad_checkpoint', 'the checkpoint is not UTF-8');
  const opened = openedWith(signed, log, [...witnesses, ...trusted.witnesses]);
  must(opened !== undefined, 'bad_checkpoint', 'two keys have one name and id');
  must(opened.valid, 'bad_checkpoint', opened.valid ? '' : opened.detail);
  const hasCosigned = (witness: VerifierKey): boolean =>
    opened.cosignatures.some(
      ({ key }) => key.name === witness.name && key.publicKey === witness.publicKey,
    );
  const idle = witnesses.find((witness) => !hasCosigned(witness));
  must(
    idle === undefined,
    'keys_differ',
    `the witness ${idle?.name} has not cosigned the checkpoint`,
  );
  const absent = trusted.witnesses.find((witness) => !hasCosigned(witness));
  must(
    absent === undefined,
    'not_witnessed',
    `the witness ${absent?.name} has not cosigned the checkpoint`,
  );
  return { ...opened, signed, log, witnesses };
}

/** Every entry has its proof up to the checkpoint. @throws BundleRefusal */
export function verifyProofs(
  files: BundleFiles,
  entries: readonly BundledEntry[],
  { signed, checkpoint: { size, root } }: OpenedCheckpoint,
): void {
  const names = new Set(entries.map(({ id }) => proofName(id)));
  const other = [...files.keys()].find((name) => name.startsWith('proofs/') && !names.has(name));
  must(other === undefined, 'not_logged', `${other} proves no entry of the bundle`);
  for (const { id, index, text } of entries) {
    const bytes = files.get(proofName(id));
    must(bytes !== undefined, 'not_logged', `the proof of ${id} is missing`);
    const file = proofIn(bytes);
    must(
      file !== undefined && file.extra === undefined,
      'bad_form',
      `${proofName(id)} is not a proof file of a bundle`,
    );
    must(file.signed === signed, 'not_logged', `the proof of ${id} leads to another checkpoint`);
    const isIn =
      file.index === BigInt(index) &&
      verifyInclusion({ index, size, root, leafHash: leafHash(text) }, file.proof);
    must(isIn, 'not_logged', `the proof does not show ${id} at place ${index} of the log`);
  }
}

function openedWith(
  signed: string,
  log: VerifierKey,
  witnesses: readonly VerifierKey[],
): CheckpointVerdict | undefined {
  return unless(() => openCheckpoint(signed, { origin: log.name, keys: [log] }, witnesses));
}

function proofIn(bytes: Uint8Array): ProofFile | undefined {
  return unless(() => parseProofFile(bytes));
}

function keyIn(text: string): VerifierKey | undefined {
  return unless(() => parseVerifierKey(text));
}

/** The answer, or undefined where the reader refuses. */
function unless<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isAssizeError(error)) return undefined;
    throw error;
  }
}
