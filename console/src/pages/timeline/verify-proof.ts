import { areEqual, utf8 } from '../../../verify/bytes/text.ts';
import { readKey } from '../../../verify/log/key.ts';
import { readCheckpoint } from '../../../verify/log/note.ts';
import { readProof } from '../../../verify/log/proof-file.ts';
import { isSignedBy } from '../../../verify/log/signatures.ts';
import { leafHash, rootFrom } from '../../../verify/log/tree.ts';

/** The place of an entry in the log, or the reason why a proof does not hold. */
export type ProofVerdict =
  | { readonly index: bigint; readonly size: bigint; readonly fault?: undefined }
  | { readonly fault: string };

/**
 * Verifies that an entry is in the log of a signed checkpoint (RFC 9162, section 2.1.3.2), with the
 * verifier of proof bundles.
 */
export function verifyProof(text: string, proof: string, logKey: string): ProofVerdict {
  const file = readProof(proof);
  if (typeof file === 'string') return { fault: `The proof ${file}.` };
  const checkpoint = readCheckpoint(file.checkpoint);
  if (typeof checkpoint === 'string') return { fault: `The checkpoint ${checkpoint}.` };
  const key = readKey(logKey);
  if (key === undefined || !isSignedBy(checkpoint, key))
    return { fault: 'The key of the log did not sign the checkpoint.' };
  const { index, path } = file;
  const { size, root } = checkpoint;
  const led = rootFrom(index, size, leafHash(utf8(text)), path);
  if (led === undefined || !areEqual(led, root))
    return {
      fault:
        'The proof does not lead from this entry to the signed root: the entry or the proof is damaged.',
    };
  return { index, size };
}
