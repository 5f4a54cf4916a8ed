import { type EntryRow, type Hash, type Payload, readRow } from '#ledger';

/**
 * Which entry ruled last on a proposal that came with an idempotency key, and which concluded a delegation: 52 bits of the
 * key's hash or the delegation's id are kept, and the entry says the rest.
 */
export class RuledProposals {
  readonly #seqs: Map<number, number> = new Map();

  add(id: Hash, seq: number): void {
    this.#seqs.set(keyOf(id), seq);
  }

  /** An entry that was read. */
  note(payload: Payload): void {
    if (payload.kind === 'delegation') {
      if (payload.concludes !== undefined) this.add(payload.concludes, payload.seq);
    } else this.noteKey(keyHashOf(payload), payload.seq);
  }

  noteKey(keyHash: Hash | undefined, seq: number): void {
    if (keyHash !== undefined) this.add(keyHash, seq);
  }

  seqOf(id: Hash): number | undefined {
    return this.#seqs.get(keyOf(id));
  }
}

function keyOf(id: Hash): number {
  return Number.parseInt(id.slice(0, 13), 16);
}

/** The proposal that an entry rules on, if it came with a key. */
export function keyedProposal(row: EntryRow): { readonly keyHash: Hash; readonly proposalId: Hash } | undefined {
  const { payload } = readRow(row);
  const keyHash = keyHashOf(payload);
  const of = payload.kind === 'pending_approval' ? payload.proposal : payload;
  const proposalId = 'proposal_id' in of ? of.proposal_id : undefined;
  return keyHash === undefined || proposalId === undefined ? undefined : { keyHash, proposalId };
}

function keyHashOf(payload: Payload): Hash | undefined {
  if (payload.kind === 'pending_approval') return payload.proposal.key_hash;
  return payload.kind === 'commit' || payload.kind === 'rejection' ? payload.key_hash : undefined;
}
