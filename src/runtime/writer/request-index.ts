import { type EntryRow, type Hash, type Payload, readRow, revokedBy } from '#ledger';

/** Bytes of a hash, and of the seq that is beside it. */
const HASH_BYTES = 32;
const SEQ_BYTES = 6;
const ROW_BYTES = HASH_BYTES + SEQ_BYTES;

/**
 * Which entry ruled last on a proposal that came with an idempotency key, by the key's hash; which resolved what was pending, by
 * the id of that; which concluded a delegation, by the id of its start; and which revoked a writ, by the writ's id. What is added
 * over others (`below`) is gone with this, and they stay.
 */
export class RuledProposals {
  readonly #seqs: Map<Hash, number> = new Map();
  readonly #below: RuledProposals | undefined;
  /** What it began with: looked up where it stands, so that of many thousands nothing is made when a trajectory is opened. */
  #rows: Buffer = Buffer.alloc(0);

  constructor(below?: RuledProposals) {
    this.#below = below;
  }

  /** @throws Error for what is no such state */
  static from(state: RuledState): RuledProposals {
    const ruled = new RuledProposals();
    ruled.#rows = Buffer.from(state, 'base64url');
    if (ruled.#rows.length % ROW_BYTES !== 0) throw new Error('it does not say what was ruled on');
    return ruled;
  }

  /** In an order that does not tell how they were read. */
  state(): RuledState {
    // Of hashes in hex this is the order of their bytes; without a function that compares it takes a fraction of the time.
    const added = [...this.#seqs.keys()].sort();
    const rows = Buffer.alloc(this.#rows.length + added.length * ROW_BYTES);
    let length = 0;
    let from = 0;
    const take = (to: number): void => {
      length += this.#rows.copy(rows, length, from, to);
      from = to;
    };
    for (const id of added) {
      const { at, isThere } = this.#place(id);
      take(at);
      if (isThere) from += ROW_BYTES;
      length += rows.write(id, length, 'hex');
      length = rows.writeUIntBE(this.#seqs.get(id)!, length, SEQ_BYTES);
    }
    take(this.#rows.length);
    return rows.toString('base64url', 0, length);
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
    return this.#seqs.get(id) ?? this.#seqInRows(id) ?? this.#below?.seqOf(id);
  }

  #seqInRows(id: Hash): number | undefined {
    if (this.#rows.length === 0) return undefined;
    const { at, isThere } = this.#place(id);
    return isThere ? this.#rows.readUIntBE(at + HASH_BYTES, SEQ_BYTES) : undefined;
  }

  /** Where it stands in what it began with, or would stand. */
  #place(id: Hash): { readonly at: number; readonly isThere: boolean } {
    const hash = Buffer.from(id, 'hex');
    let low = 0;
    let high = this.#rows.length / ROW_BYTES;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const at = middle * ROW_BYTES;
      const order = hash.compare(this.#rows, at, at + HASH_BYTES);
      if (order === 0) return { at, isThere: true };
      if (order > 0) low = middle + 1;
      else high = middle;
    }
    return { at: low * ROW_BYTES, isThere: false };
  }
}

/**
 * As JSON: the bytes of each hash or id and, in six, of the seq of its entry, sorted, as one text in base64url. A list of them is read many
 * times as slowly, and as every proposal that comes with a key adds to it, it is most of the snapshot of a long trajectory.
 */
export type RuledState = string;

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
