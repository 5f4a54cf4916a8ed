import { AssizeError } from '#base';

/**
 * An argument, a document or a store of hashes with a fault. A proof, signature or request that
 * does not hold is no error but `false`, or a verdict with a reason.
 */
export type MerkleErrorCode =
  /** The leaf is neither bytes nor well-formed text. Give the payload as it is stored. */
  | 'bad_leaf'
  /** A hash is not 32 bytes. Give a SHA-256 hash. Evidence `{what}`. */
  | 'bad_hash'
  /**
   * A size or index is not whole, too large, or outside the tree. Give a value that the tree has.
   * Evidence `{what}`.
   */
  | 'bad_size'
  /**
   * The number of hashes does not match the size of the tree. Read the frontier again. Evidence
   * `{size, hashes}`.
   */
  | 'bad_frontier'
  /**
   * The reader lacks the hash of a full subtree. Integrate the log again, and run `assize fsck`.
   * Evidence `{level, index}`.
   */
  | 'missing_node'
  /**
   * The text is not a signed note (c2sp.org/signed-note). Ask the sender for the original file.
   * Evidence `{problem}`.
   */
  | 'bad_note'
  /**
   * The text is not a proof file (c2sp.org/tlog-proof). Make the proof again with `assize prove`.
   * Evidence `{problem}`.
   */
  | 'bad_proof_file'
  /**
   * The text is not an add-checkpoint request (c2sp.org/tlog-witness). Correct the sending client.
   * Evidence `{problem}`.
   */
  | 'bad_request'
  /**
   * A key for notes stands where a key for cosignatures is needed, or the reverse. Use the other
   * key. Evidence `{name, use}`.
   */
  | 'wrong_key'
  /**
   * The time of a cosignature is not a whole number of seconds from 1 to 2^63-1. Give the time in
   * seconds.
   */
  | 'bad_time'
  /**
   * The quorum is not a whole number, or larger than the number of witnesses. Lower the quorum.
   * Evidence `{quorum, witnesses}`.
   */
  | 'bad_quorum';

/**
 * Misuse of trees and notes, a malformed document, or missing hashes. No message or evidence holds
 * a private key.
 */
export class MerkleError extends AssizeError<MerkleErrorCode> {
  override readonly name = 'MerkleError';
}

export type DocumentCode = 'bad_note' | 'bad_checkpoint' | 'bad_proof_file' | 'bad_request';

const DOCUMENTS: Readonly<Record<DocumentCode, string>> = {
  bad_note: 'a signed note (c2sp.org/signed-note)',
  bad_checkpoint: 'the text of a checkpoint (c2sp.org/tlog-checkpoint)',
  bad_proof_file: 'a proof file (c2sp.org/tlog-proof)',
  bad_request: 'an add-checkpoint request (c2sp.org/tlog-witness)',
};

/** The error of a text that is not what it should be. */
export function malformed(code: DocumentCode, problem: string, cause?: unknown): MerkleError {
  return new MerkleError(code, `The document is not ${DOCUMENTS[code]}: ${problem}.`, { evidence: { problem }, cause });
}

/**
 * The result of the call, or the error of this folder that it threw. For documents of any origin,
 * which are not trusted.
 */
export function attempt<T>(call: () => T): T | MerkleError {
  try {
    return call();
  } catch (error) {
    if (error instanceof MerkleError) return error;
    throw error;
  }
}
