import { type EntryRow, type Hash, readRow } from '#ledger';

/**
 * Which entry ruled on a proposal last, and which concluded a delegation: 52 bits of the id are kept, and the entry says
 * the rest. What is added over others (`below`) is gone with this, and they stay.
 */
export class RuledProposals {
  readonly #seqs: Map<number, number> = new Map();
  readonly #below: RuledProposals | undefined;

  constructor(below?: RuledProposals) {
    this.#below = below;
  }

  add(id: Hash, seq: number): void {
    this.#seqs.set(keyOf(id), seq);
  }

  seqOf(id: Hash): number | undefined {
    return this.#seqs.get(keyOf(id)) ?? this.#below?.seqOf(id);
  }
}

function keyOf(id: Hash): number {
  return Number.parseInt(id.slice(0, 13), 16);
}

/** The proposal that an entry rules on, if it does. */
export function proposalOf(row: EntryRow): Hash | undefined {
  const { payload } = readRow(row);
  if (payload.kind === 'pending_approval') return payload.proposal.proposal_id;
  return payload.kind === 'commit' || payload.kind === 'rejection' ? payload.proposal_id : undefined;
}
