/**
 * merkle: the pure part of the transparency log over all entries of a store: RFC 6962 trees, and
 * the C2SP text forms that sign, witness and prove them.
 *
 * Guarantees
 * - Hashes, proofs and their verification are exactly those of RFC 6962 and RFC 9162. There is no
 *   form of our own. The leaf of an entry is the canonical text of its payload.
 * - A proof of any origin returns true or false, and a document returns a verdict with a reason, in
 *   a time that its size limits. Only misuse, or the `parse…` of a malformed text, throws: always a
 *   `MerkleError` with a code.
 * - A text has one spelling: numbers, Base64 and lines are accepted only in the form in which they
 *   are written. An invalid signature of a known key refuses the whole note. A signature of an
 *   unknown key is ignored.
 * - Keys and signatures obey canon's rule for Ed25519.
 *
 * Never
 * - reads or writes anything, reads a clock, or draws a random number: hashes come from the
 *   caller's reader, times and keys from the caller;
 * - ensures for the caller that no two diverging checkpoints are signed, or that a witness stores
 *   before it answers;
 * - shows a private key in an error, or takes a key from a document that it verifies.
 *
 * Sizes are passed as `number` or `bigint`. Sizes from texts are `bigint`, up to 2^64-1. A local
 * log counts its leaves with numbers.
 */
export {
  type AddCheckpoint,
  formatAddCheckpoint,
  PROOF_HASHES_MAX,
  parseAddCheckpoint,
  parseRecordedSize,
  REQUEST_BYTES_MAX,
} from './add-checkpoint.ts';
export {
  type Checkpoint,
  type CheckpointDraft,
  formatCheckpoint,
  parseCheckpoint,
} from './checkpoint.ts';
export { cosign, cosignedAt } from './cosignature.ts';
export { MerkleError, type MerkleErrorCode } from './errors.ts';
export { Frontier, type FrontierState, type TreeNode } from './frontier.ts';
export { emptyRoot, HASH_BYTES, leafHash, nodeHash } from './hash.ts';
export {
  formatNote,
  formatSignatures,
  NOTE_BYTES_MAX,
  type Note,
  type NoteSignature,
  parseNote,
  parseSignatures,
  SIGNATURES_MAX,
} from './note.ts';
export {
  formatSignerKey,
  formatVerifierKey,
  type KeyUse,
  parseSignerKey,
  parseVerifierKey,
  type SignerKey,
  signerKey,
  type VerifierKey,
  verifierKey,
} from './note-key.ts';
export {
  addCosignatures,
  type CheckpointRefusal,
  type CheckpointVerdict,
  type KnownLog,
  openCheckpoint,
  witnessCount,
} from './open-checkpoint.ts';
export {
  type NoteRefusal,
  type NoteVerdict,
  openNote,
  signNote,
  type VerifiedSignature,
} from './open-note.ts';
export {
  formatProofFile,
  PROOF_FILE_BYTES_MAX,
  type ProofFile,
  type ProofFileDraft,
  parseProofFile,
} from './proof-file.ts';
export { signCheckpoint } from './sign-checkpoint.ts';
export { SIZE_MAX, type Size } from './size.ts';
export { consistencyProof, frontierAt, inclusionProof, type NodeReader, rootAt } from './tree.ts';
export {
  type InclusionClaim,
  type TreeHead,
  verifyConsistency,
  verifyInclusion,
} from './verify.ts';
export {
  type ProofRefusal,
  type ProofTrust,
  type ProofVerdict,
  verifyProofFile,
} from './verify-proof-file.ts';
export {
  decideCheckpoint,
  type WitnessDecision,
  type WitnessMemory,
  type WitnessRecord,
  type WitnessRefusal,
} from './witness.ts';
