import { arg, checkArgument } from '#base';
import { formatCheckpoint } from './checkpoint.ts';
import { SIGNER_KEY } from './forms.ts';
import { formatNote } from './note.ts';
import type { SignerKey } from './note-key.ts';
import { signNote } from './open-note.ts';
import type { TreeHead } from './verify.ts';

/**
 * The signed checkpoint of the log with the key's name as its origin. The caller must sign only
 * checkpoints that continue every one signed before.
 *
 * @throws MerkleError `bad_key`, `bad_checkpoint`; ArgumentError `bad_argument`
 */
export function signCheckpoint(head: TreeHead, signer: SignerKey): string {
  checkArgument(arg.object, head, 'head');
  checkArgument(SIGNER_KEY, signer, 'signer');
  const { size, root } = head;
  const text = formatCheckpoint({ origin: signer.name, size, root });
  return formatNote({ text, signatures: [signNote(text, signer)] });
}
