import { type EntryRow, type Hash, type Payload, readRow, revokedBy } from '#ledger';

/**
 * Which entry ruled last on a proposal that came with an idempotency key, by the key's hash; which resolved what was pending, by
 * the id of that; which concluded a delegation, by the id of its start; and which revoked a writ, by the writ's id. What is added
 * over others (`below`) is gone with this, and they stay.
 */
export class RuledProposals {
  readonly #seqs: Map<Hash, number> = new Map();
  readonly #below: RuledProposals | undefined;

  constructor(below?: RuledProposals) {
    this.#below = below;
  }

  static from(state: RuledState): RuledProposals {
    const ruled = new RuledProposals();
    for (const [id, seq] of state) ruled.#seqs.set(id, seq);
    return ruled;
  }

  /** In an order that does not tell how they were read. */
  state(): RuledState {
    return [...this.#seqs].sort(([one], [other]) => (one < other ? -1 : 1));
  }

  add(id: Hash, seq: number): void {
    this.#seqs.set(id, seq);
  }

  /** An entry that was read. */
  note(payload: Payload): void {
    if (payload.kind === 'delegation') {
      if (payload.concludes !== undefined) this.add(payload.concludes, payload.seq);
      return;
    }
    const revoked = revokedBy(payload);
    if (revoked !== undefined) this.add(revoked, payload.seq);
    const keyHash = keyHashOf(payload);
    if ('resolves' in payload && payload.resolves !== undefined)
      this.noteResolved(payload.resolves, keyHash, payload.seq);
    else if (keyHash !== undefined) this.add(keyHash, payload.seq);
  }

  /** That something was resolved, and so was ruled on again where it came with a key. */
  noteResolved(pendingId: Hash, keyHash: Hash | undefined, seq: number): void {
    this.add(pendingId, seq);
    if (keyHash !== undefined) this.add(keyHash, seq);
  }

  seqOf(id: Hash): number | undefined {
    return this.#seqs.get(id) ?? this.#below?.seqOf(id);
  }
}

/** As JSON: hash or id, and the seq of the entry. */
export type RuledState = readonly (readonly [id: Hash, seq: number])[];

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
