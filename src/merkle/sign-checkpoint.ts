import { form, requireForm } from '#base';
import { formatCheckpoint } from './checkpoint.ts';
import { SIGNER_KEY } from './forms.ts';
import { formatNote } from './note.ts';
import type { SignerKey } from './note-key.ts';
import { signNote } from './open-note.ts';
import type { TreeHead } from './verify.ts';

/**
 * The signed checkpoint of the log whose origin is the key's name. It is for the caller to sign none that does not continue
 * every one that was signed before.
 * @throws MerkleError `wrong_key`, `bad_checkpoint`; ArgumentError `bad_argument`
 */
export function signCheckpoint(head: TreeHead, signer: SignerKey): string {
  requireForm(form.object, head, 'head');
  requireForm(SIGNER_KEY, signer, 'signer');
  const { size, root } = head;
  const text = formatCheckpoint({ origin: signer.name, size, root });
  return formatNote({ text, signatures: [signNote(text, signer)] });
}
