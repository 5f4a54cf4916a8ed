import { arg, checkArgument } from '#base';
import type { Checkpoint } from './checkpoint.ts';
import { attempt, MerkleError } from './errors.ts';
import { KNOWN_LOG, VERIFIER_KEYS } from './forms.ts';
import { leafHash } from './hash.ts';
import type { VerifierKey } from './note-key.ts';
import {
  type CheckpointRefusal,
  type KnownLog,
  openCheckpoint,
  witnessCount,
} from './open-checkpoint.ts';
import type { VerifiedSignature } from './open-note.ts';
import { parseProofFile } from './proof-file.ts';
import { verifyInclusion } from './verify.ts';

/** The trusted keys. They come from the verifier's own configuration, never from the file. */
export interface ProofTrust {
  readonly log: KnownLog;
  /** At least `quorum` of these keys must have cosigned. */
  readonly witnesses: readonly VerifierKey[];
  /** 0 if the log's own signature is enough. A public key counts once. */
  readonly quorum: number;
}

/**
 * As for checkpoints, and `malformed_file`, `too_few_witnesses`, `not_included`: the proof does not
 * lead from leaf to root.
 */
export type ProofRefusal =
  | CheckpointRefusal
  | 'malformed_file'
  | 'too_few_witnesses'
  | 'not_included';

export type ProofVerdict =
  | {
      readonly valid: true;
      readonly index: bigint;
      readonly checkpoint: Checkpoint;
      readonly cosignatures: readonly VerifiedSignature[];
      /** The file's unsigned extra bytes. */
      readonly extra?: Uint8Array;
    }
  | { readonly valid: false; readonly reason: ProofRefusal; readonly detail: string };

/**
 * Verifies offline that the leaf is in the log at the index in the file (c2sp.org/tlog-proof,
 * Verifying). The file is untrusted.
 * @param leaf The canonical text of the entry's payload, or its UTF-8 bytes.
 *
 * @throws MerkleError `bad_argument`; `bad_argument`, `bad_key` for mistakes in the configuration;
 * ArgumentError `bad_argument`
 */
export function verifyProofFile(
  source: string | Uint8Array,
  leaf: Uint8Array | string,
  trust: ProofTrust,
): ProofVerdict {
  checkArgument(PROOF_TRUST, trust, 'trust');
  const { log, witnesses, quorum } = trust;
  requireQuorum(quorum, witnesses);
  const hash = leafHash(leaf);
  const file = attempt(() => parseProofFile(source));
  if (file instanceof MerkleError) return refused('malformed_file', file.message);
  const opened = openCheckpoint(file.signed, log, witnesses);
  if (!opened.valid) return opened;
  const { checkpoint, cosignatures } = opened;
  const behind = witnessCount(cosignatures);
  if (behind < quorum)
    return refused('too_few_witnesses', `${behind} of ${quorum} required witnesses cosigned.`);
  const { index, proof, extra } = file;
  if (
    !verifyInclusion({ index, size: checkpoint.size, leafHash: hash, root: checkpoint.root }, proof)
  ) {
    return refused('not_included', `The proof does not show the leaf at index ${index}.`);
  }
  return {
    valid: true,
    index,
    checkpoint,
    cosignatures,
    ...(extra === undefined ? {} : { extra }),
  };
}

const PROOF_TRUST = arg.members({ log: KNOWN_LOG, witnesses: VERIFIER_KEYS, quorum: arg.any });

function requireQuorum(quorum: number, witnesses: readonly VerifierKey[]): void {
  const distinct = new Set(witnesses.map(({ publicKey }) => publicKey)).size;
  if (Number.isSafeInteger(quorum) && quorum >= 0 && quorum <= distinct) return;
  throw new MerkleError(
    'bad_argument',
    `The quorum cannot be ${typeof quorum === 'number' ? quorum : typeof quorum} of ${distinct} witnesses.`,
    {
      evidence: { quorum, witnesses: distinct },
    },
  );
}

function refused(reason: ProofRefusal, detail: string): ProofVerdict {
  return { valid: false, reason, detail };
}
