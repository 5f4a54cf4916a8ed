import type { Findings } from '../bundle/findings.ts';
import type { Pause } from '../bundle/pause.ts';
import type { GivenKeys } from '../bundle/verify.ts';
import { areEqual, base64Of } from '../bytes/text.ts';
import type { Leaves } from '../log/leaves.ts';
import type { Checkpoint } from '../log/note.ts';
import { type Cosigned, cosignedBy, isSignedBy } from '../log/signatures.ts';
import { continues } from '../log/tree.ts';
import type { ConsistencyProof } from './consistency-proof.ts';

/** Checks the signatures of a checkpoint by the keys that the reader has. */
export function checkSigned(
  checkpoint: Checkpoint,
  { log, witnesses = [] }: GivenKeys,
  findings: Findings,
): void {
  if (log !== undefined)
    findings.checked('checkpoint', 'bad_checkpoint', wrongSignature(checkpoint, log, ''));
  for (const key of witnesses) {
    const found = cosignedBy(checkpoint, key);
    const wrong = found === false ? `A cosignature of the witness ${key.name} does not hold.` : '';
    const missing = found !== false && found.length === 0;
    const reason = missing ? `The witness ${key.name} did not cosign the checkpoint.` : wrong;
    findings.checked('cosignatures', 'not_witnessed', reason);
  }
}

/** The first cosignature of each witness whose key the reader has. */
export function cosignersOf(
  checkpoint: Checkpoint,
  { witnesses = [] }: GivenKeys,
): readonly Cosigned[] {
  return witnesses.flatMap((key) => {
    const found = cosignedBy(checkpoint, key);
    return found === false ? [] : found.slice(0, 1);
  });
}

/**
 * Whether the log of a checkpoint continues that of an earlier one. Without a proof only the sizes
 * are compared.
 */
export function checkEarlier(
  earlier: Checkpoint,
  later: Checkpoint,
  proof: ConsistencyProof | undefined,
  { log }: GivenKeys,
  findings: Findings,
): void {
  if (log !== undefined)
    findings.checked('checkpoint', 'bad_checkpoint', wrongSignature(earlier, log, 'earlier '));
  const wrong = wrongOrder(earlier, later);
  if (wrong !== '') findings.fault('diverged', wrong);
  else if (proof !== undefined)
    findings.checked('consistency', 'diverged', wrongProof(earlier, later, proof));
}

/** Compares an export with a checkpoint of its log. `name`: of the checkpoint, before that word. */
export async function checkTree(
  leaves: Leaves,
  { size, root }: Checkpoint,
  name: '' | 'earlier ',
  findings: Findings,
  pause: Pause,
): Promise<void> {
  findings.checked('trees', 'not_logged', await wrongTree());

  async function wrongTree(): Promise<string> {
    if (size > BigInt(leaves.size))
      return `The ${name}checkpoint has ${size} entries, and the export has ${leaves.size}: its end is missing.`;
    const found = await leaves.rootAt(Number(size), pause);
    return areEqual(found, root)
      ? ''
      : `The first ${size} entries of the export do not have the root ${base64Of(root)} of the ${name}checkpoint.`;
  }
}

function wrongSignature(
  checkpoint: Checkpoint,
  key: NonNullable<GivenKeys['log']>,
  name: '' | 'earlier ',
): string {
  if (key.name !== checkpoint.origin)
    return `The ${name}checkpoint is of the log ${checkpoint.origin}, and the key that you gave is of ${key.name}.`;
  return isSignedBy(checkpoint, key)
    ? ''
    : `The key that you gave did not sign the ${name}checkpoint.`;
}

function wrongOrder(earlier: Checkpoint, later: Checkpoint): string {
  if (earlier.origin !== later.origin)
    return `The earlier checkpoint is of another log: ${earlier.origin}.`;
  if (earlier.size > later.size)
    return `The log had ${earlier.size} entries at the earlier checkpoint, and has ${later.size} at this one.`;
  if (earlier.size === later.size && !areEqual(earlier.root, later.root))
    return `Both checkpoints have ${later.size} entries, and different roots: the log showed two histories.`;
  return '';
}

function wrongProof(
  earlier: Checkpoint,
  later: Checkpoint,
  { path, old }: ConsistencyProof,
): string {
  if (old !== undefined && old !== earlier.size)
    return `The proof begins at ${old} entries, and the earlier checkpoint has ${earlier.size}.`;
  return continues(earlier, later, path)
    ? ''
    : 'The proof does not show that this checkpoint continues the earlier one.';
}
