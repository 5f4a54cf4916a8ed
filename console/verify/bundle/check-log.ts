import { areEqual, base64Of, utf8 } from '../bytes/text.ts';
import type { Entry } from '../entries/payloads.ts';
import { type Checkpoint, readCheckpoint } from '../log/note.ts';
import { readProof } from '../log/proof-file.ts';
import { type Cosigned, cosignedBy, isSignedBy } from '../log/signatures.ts';
import { leafHash, rootFrom } from '../log/tree.ts';
import { type Files, textIn } from './files.ts';
import { type Findings, Unreadable } from './findings.ts';
import type { Keys } from './keys.ts';
import type { LedgerPart } from './ledger-part.ts';
import type { Pause } from './pause.ts';

const PROOF = /^proofs\/([0-9a-f]{64})\.tlog-proof$/;

/** The checkpoint of a bundle, with its signatures checked. @throws Unreadable */
export function checkCheckpoint(files: Files, keys: Keys, findings: Findings): Checkpoint {
  const checkpoint = readCheckpoint(textIn(files, 'checkpoint'));
  if (typeof checkpoint === 'string')
    throw new Unreadable('bad_checkpoint', `The checkpoint ${checkpoint}.`);
  const isSigned = isSignedBy(checkpoint, keys.log);
  findings.checked(
    'checkpoint',
    'bad_checkpoint',
    isSigned ? '' : 'The key of the log did not sign the checkpoint.',
  );
  return checkpoint;
}

/** The first cosignature of each witness in the keys. */
export function checkCosignatures(
  checkpoint: Checkpoint,
  keys: Keys,
  findings: Findings,
): readonly Cosigned[] {
  return keys.witnesses.flatMap((key) => {
    const found = cosignedBy(checkpoint, key);
    const first = found === false ? undefined : found[0];
    const reason =
      first === undefined ? `The witness ${key.name} did not cosign the checkpoint.` : '';
    findings.checked('cosignatures', 'bad_checkpoint', reason);
    return first ?? [];
  });
}

/** Checks that each entry is in the tree of the checkpoint, at its place. */
export async function checkProofs(
  files: Files,
  part: LedgerPart,
  checkpoint: Checkpoint,
  findings: Findings,
  pause: Pause,
): Promise<void> {
  const note = textIn(files, 'checkpoint');
  for (const entry of part.entries) {
    await pause();
    findings.checked('proofs', 'not_logged', wrongProof(files, entry, checkpoint, note), entry.id);
  }
  for (const name of files.keys()) {
    const id = PROOF.exec(name)?.[1];
    if (id !== undefined && !part.byId.has(id))
      findings.fault('bad_form', `The file ${name} proves no entry here.`);
  }
}

function wrongProof(
  files: Files,
  { id, index, text }: Entry,
  checkpoint: Checkpoint,
  note: string,
): string {
  const name = `proofs/${id}.tlog-proof`;
  if (!files.has(name)) return 'It has no proof that it is in the log.';
  const proof = readProof(textIn(files, name));
  if (typeof proof === 'string') return `Its proof ${proof}.`;
  if (proof.checkpoint !== note) return 'Its proof leads to another checkpoint.';
  if (proof.index !== BigInt(index)) return 'Its proof is of another place in the log.';
  const root = rootFrom(proof.index, checkpoint.size, leafHash(utf8(text)), proof.path);
  return root !== undefined && areEqual(root, checkpoint.root)
    ? ''
    : `Its proof does not lead to the root ${base64Of(checkpoint.root)}.`;
}
