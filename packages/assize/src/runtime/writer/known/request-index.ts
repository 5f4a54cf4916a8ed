import { type EntryRow, type Hash, type Payload, readRow, revokedBy } from '#ledger';

/** Bytes of a hash, and of the seq stored next to it. */
const HASH_BYTES = 32;
const SEQ_BYTES = 6;
const ROW_BYTES = HASH_BYTES + SEQ_BYTES;

/**
 * Finds entries by id: the last ruling on a proposal, by the hash of its idempotency key; the
 * resolution of a pending proposal, by its id; the conclusion of a delegation, by the id of its
 * start; and the revocation of a writ, by the writ's id. Additions over another index (`below`) are
 * dropped with this index, and `below` stays.
 */
export class RequestIndex {
  readonly #seqs: Map<Hash, number> = new Map();
  readonly #below: RequestIndex | undefined;
  /**
   * The initial state, searched in its buffer. So opening a trajectory with many thousands of
   * rulings creates no objects.
   */
  #rows: Buffer = Buffer.alloc(0);

  constructor(below?: RequestIndex) {
    this.#below = below;
  }

  /** @throws Error for a value that is not such a state */
  static from(state: RequestIndexState): RequestIndex {
    const ruled = new RequestIndex();
    ruled.#rows = Buffer.from(state, 'base64url');
    if (ruled.#rows.length % ROW_BYTES !== 0) throw new Error('its rulings are missing');
    return ruled;
  }

  /** Sorted, so the order does not depend on the order of reading. */
  state(): RequestIndexState {
    if (this.#below !== undefined) return this.#merged(this.#below).state();
    // For hex hashes this is the order of their bytes. Sorting without a comparator takes a
    // fraction of the time.
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

  /** With the rows of the index below. */
  #merged(below: RequestIndex): RequestIndex {
    const merged = new RequestIndex(below.#below);
    merged.#rows = below.#rows;
    for (const [id, seq] of [...below.#seqs, ...this.#seqs]) merged.add(id, seq);
    return merged;
  }

  add(id: Hash, seq: number): void {
    this.#seqs.set(id, seq);
  }

  /** Adds an entry that was read. */
  addEntry(payload: Payload): void {
    if (payload.kind === 'delegation') {
      if (payload.concludes !== undefined) this.add(payload.concludes, payload.seq);
      return;
    }
    const revoked = revokedBy(payload);
    if (revoked !== undefined) this.add(revoked, payload.seq);
    const keyHash = keyHashOf(payload);
    if ('resolves' in payload && payload.resolves !== undefined)
      this.#addResolved(payload.resolves, keyHash, payload.seq);
    else if (keyHash !== undefined) this.add(keyHash, payload.seq);
  }

  /** Adds the resolution of a pending proposal. It is also a new ruling for its idempotency key. */
  #addResolved(pendingId: Hash, keyHash: Hash | undefined, seq: number): void {
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

  /** Its index in the initial state, or the index at which it would be inserted. */
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
 * As JSON: the bytes of each hash or id, then six bytes with the seq of its entry. Rows are sorted
 * and encoded as one base64url string. A JSON list takes many times as long to read. Every keyed
 * proposal adds a row, so this is most of the snapshot of a long trajectory.
 */
export type RequestIndexState = string;

/** The proposal that an entry rules on, if it has an idempotency key. */
export function requestKeyOf(
  row: EntryRow,
): { readonly keyHash: Hash; readonly proposalId: Hash } | undefined {
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
