import { AssizeError } from '#base';

/**
 * An argument, a document or a store of hashes with a fault. A proof, signature or request that
 * does not hold is not an error but `false`, or a verdict with a reason.
 */
export type MerkleErrorCode =
  /**
   * The reader lacks the hash of a full subtree. Integrate the log again, and run
   * `assize verify --database`.
   * Evidence `{level, index}`.
   */
  'missing_node';

/**
 * Misuse of trees and notes, a malformed document, or missing hashes. No message or evidence holds
 * a private key.
 */
export class MerkleError extends AssizeError<MerkleErrorCode> {
  override readonly name = 'MerkleError';
}

const DOCUMENTS = {
  note: 'a signed note (c2sp.org/signed-note)',
  checkpoint: 'the text of a checkpoint (c2sp.org/tlog-checkpoint)',
  proof: 'a proof file (c2sp.org/tlog-proof)',
  request: 'an add-checkpoint request (c2sp.org/tlog-witness)',
};

/** The error of a text that is not what it should be. */
export function malformed(
  kind: keyof typeof DOCUMENTS,
  problem: string,
  cause?: unknown,
): MerkleError {
  const code = kind === 'checkpoint' ? 'bad_checkpoint' : 'bad_input';
  return new MerkleError(code, `The document is not ${DOCUMENTS[kind]}: ${problem}.`, {
    evidence: { problem },
    cause,
  });
}

/**
 * The result of the call, or the error of this folder that it threw. For documents of any origin:
 * they are not trusted.
 */
export function attempt<T>(call: () => T): T | MerkleError {
  try {
    return call();
  } catch (error) {
    if (error instanceof MerkleError) return error;
    throw error;
  }
}
