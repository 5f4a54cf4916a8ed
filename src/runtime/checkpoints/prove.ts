import { askNodes, type Hash, type LogStore } from '#ledger';
import { formatProofFile, inclusionProof, type KnownLog } from '#merkle';
import { RuntimeError } from '../errors.ts';
import { readCheckpoint, requireContinuation } from './checkpoint.ts';

/**
 * A proof file (c2sp.org/tlog-proof) that an entry is in the log, up to a checkpoint that covers it. Whoever has it, the
 * entry's payload and the log's public key needs nothing else, and nobody else.
 *
 * @throws RuntimeError `not_logged`, `log_behind`, `log_apart`, `bad_checkpoint`; ArgumentError `bad_argument`
 */
export async function proveEntry(store: LogStore, entryId: Hash, signed: string, log: KnownLog): Promise<string> {
  const { checkpoint } = readCheckpoint(signed, log);
  const { size } = checkpoint;
  await requireContinuation(store, checkpoint);
  const index = await store.logIndex(entryId);
  if (index === undefined || BigInt(index) >= size) {
    throw new RuntimeError(
      'not_logged',
      `The checkpoint of ${size} entries does not cover ${entryId}; make a new one and prove by that.`,
      { evidence: { id: entryId, checkpoint: Number(size), ...(index === undefined ? {} : { index }) } },
    );
  }
  const proof = await askNodes(store, (read) => inclusionProof(index, size, read));
  return formatProofFile({ index, proof, signed });
}
