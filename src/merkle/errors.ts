import { AssizeError } from '#base';

/**
 * What is wrong with an argument, a document or a store of hashes. A proof, a signature or a request that does not hold is
 * not an error: it is `false` or a verdict with a reason.
 *
 * - `bad_leaf`: leaf data that is neither bytes nor well-formed text.
 * - `bad_hash`: something other than 32 bytes where a hash stands; evidence `{what}`.
 * - `bad_size`: a size or index that is no whole number, too large, or outside of the tree; evidence `{what}`.
 * - `bad_frontier`: a state whose hashes are not as many as its size says; evidence `{size, hashes}`.
 * - `missing_node`: the reader does not have the hash of a full subtree that it must have; evidence `{level, index}`.
 * - `bad_note`, `bad_checkpoint`, `bad_proof_file`, `bad_request`: a text that is not of its form; evidence `{problem}`.
 * - `bad_key`: a key text that is malformed, of another type, of low order or belied by its id; or two keys of one name and id.
 * - `wrong_key`: a key for notes where one for cosignatures is wanted, or the other way round; evidence `{name, use}`.
 * - `bad_time`: a time of cosigning that is not a whole number of seconds from 1 to 2^63-1.
 * - `bad_quorum`: more witnesses wanted than there are, or a number that is none; evidence `{quorum, witnesses}`.
 */
export type MerkleErrorCode =
  | 'bad_leaf'
  | 'bad_hash'
  | 'bad_size'
  | 'bad_frontier'
  | 'missing_node'
  | 'bad_note'
  | 'bad_checkpoint'
  | 'bad_proof_file'
  | 'bad_request'
  | 'bad_key'
  | 'wrong_key'
  | 'bad_time'
  | 'bad_quorum';

/** Misuse, a malformed document, or hashes that are missing. No message or evidence holds a private key. */
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
  return new MerkleError(code, `This is not ${DOCUMENTS[code]}: ${problem}.`, { evidence: { problem }, cause });
}

/** What the call answers, or the error of this folder that it threw. For documents of any origin, which are not trusted. */
export function attempt<T>(call: () => T): T | MerkleError {
  try {
    return call();
  } catch (error) {
    if (error instanceof MerkleError) return error;
    throw error;
  }
}
