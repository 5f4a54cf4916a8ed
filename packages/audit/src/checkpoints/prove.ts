import { hashText } from 'assize/internal/canon';
import { askNodes, type Hash, type LogStore } from 'assize/internal/ledger';
import {
  formatProofFile,
  inclusionProof,
  type KnownLog,
  leafHash,
  verifyInclusion,
} from 'assize/internal/merkle';
import { RuntimeError } from 'assize/internal/runtime';
import { readCheckpoint, requireContinuation } from './checkpoint.ts';

/**
 * A proof file (c2sp.org/tlog-proof) that an entry is in the log, up to a checkpoint that covers
 * it. A verifier needs only the proof, the entry's payload and the log's public key. The proof is
 * for the entry as stored now; an entry rewritten since it was logged has no proof.
 *
 * @throws RuntimeError `not_checkpointed`, `bad_checkpoint`; ArgumentError `bad_argument`
 */
export async function proveEntry(
  store: LogStore,
  entryId: Hash,
  signed: string,
  log: KnownLog,
): Promise<string> {
  const { checkpoint } = readCheckpoint(signed, log);
  const { size } = checkpoint;
  await requireContinuation(store, checkpoint);
  const index = await store.logIndex(entryId);
  if (index === undefined || BigInt(index) >= size) {
    throw new RuntimeError(
      'not_checkpointed',
      `The checkpoint of ${size} entries does not cover ${entryId}. Make a new checkpoint and use it for the proof.`,
      {
        evidence: {
          id: entryId,
          checkpoint: Number(size),
          ...(index === undefined ? {} : { index }),
        },
      },
    );
  }
  const proof = await askNodes(store, (read) => inclusionProof(index, size, read));
  const [row] = await store.logged(index, 1);
  const isWhole = row?.id === entryId && hashText(row.payload) === entryId;
  const claim = { index, size, root: checkpoint.root };
  if (!isWhole || !verifyInclusion({ ...claim, leafHash: leafHash(row.payload) }, proof))
    throw new RuntimeError(
      'not_checkpointed',
      `The stored entry ${entryId} differs from the logged entry. List the changes with assize verify --database.`,
      { evidence: { id: entryId, checkpoint: Number(size), index } },
    );
  return formatProofFile({ index, proof, signed });
}
