import { type EntryRow, type Hash, type Payload, readRow } from '#ledger';

/**
 * Which entry ruled last on a proposal that came with an idempotency key, and which concluded a delegation: 52 bits of the
 * key's hash or the delegation's id are kept, and the entry says the rest. What is added over others
 * (`below`) is gone with this, and they stay.
 */
export class RuledProposals {
  readonly #seqs: Map<number, number> = new Map();
  readonly #below: RuledProposals | undefined;

  constructor(below?: RuledProposals) {
    this.#below = below;
  }

  /** @throws SyntaxError for what `state` did not write */
  static from(state: string): RuledProposals {
    const bytes = Buffer.from(state, 'base64');
    if (bytes.length % KEY_BYTES !== 0 || bytes.toString('base64') !== state) throw new SyntaxError('no list of keys');
    const ruled = new RuledProposals();
    for (let seq = 0, at = 0; at < bytes.length; seq++, at += KEY_BYTES) {
      const last = bytes[at + KEY_BYTES - 1] as number;
      if (last % 16 === 0) ruled.#seqs.set(bytes.readUIntBE(at, KEY_BYTES - 1) * 16 + last / 16, seq);
    }
    return ruled;
  }

  /** One text: for each seq the key that stands there, or none. */
  state(): string {
    let length = 0;
    for (const seq of this.#seqs.values()) length = Math.max(length, seq + 1);
    const bytes = Buffer.alloc(length * KEY_BYTES, 0xff);
    for (const [key, seq] of this.#seqs) {
      const at = seq * KEY_BYTES;
      bytes.writeUIntBE(Math.floor(key / 16), at, KEY_BYTES - 1);
      bytes[at + KEY_BYTES - 1] = (key % 16) * 16;
    }
    return bytes.toString('base64');
  }

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
    return this.#seqs.get(keyOf(id)) ?? this.#below?.seqOf(id);
  }
}

const KEY_DIGITS = 13;
/** A key and four bits that are zero; where there is no key, all are one. */
const KEY_BYTES = 7;

function keyOf(id: Hash): number {
  return Number.parseInt(id.slice(0, KEY_DIGITS), 16);
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
