import { type EntryRow, type Hash, readRow } from '#ledger';

/** Which entry ruled on a proposal last: 52 bits of its id are kept, and the entry says the rest. */
export class RuledProposals {
  readonly #seqs: Map<number, number> = new Map();

  add(proposalId: Hash, seq: number): void {
    this.#seqs.set(keyOf(proposalId), seq);
  }

  seqOf(proposalId: Hash): number | undefined {
    return this.#seqs.get(keyOf(proposalId));
  }
}

function keyOf(proposalId: Hash): number {
  return Number.parseInt(proposalId.slice(0, 13), 16);
}

/** The proposal that an entry rules on, if it does. */
export function proposalOf(row: EntryRow): Hash | undefined {
  const { payload } = readRow(row);
  if (payload.kind === 'pending_approval') return payload.proposal.proposal_id;
  return payload.kind === 'commit' || payload.kind === 'rejection' ? payload.proposal_id : undefined;
}
