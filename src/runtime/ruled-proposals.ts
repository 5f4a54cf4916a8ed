import { type EntryRow, type Hash, readRow } from '#ledger';

/**
 * Which entry ruled on a proposal last, and which concluded a delegation: 52 bits of the id are kept, and the entry says
 * the rest.
 */
export class RuledProposals {
  readonly #seqs: Map<number, number> = new Map();

  /** @throws SyntaxError for what `state` did not write */
  static from(state: string): RuledProposals {
    const ruled = new RuledProposals();
    for (let seq = 0; seq * KEY_DIGITS < state.length; seq++) {
      const digits = state.slice(seq * KEY_DIGITS, (seq + 1) * KEY_DIGITS);
      if (digits === NO_KEY) continue;
      const key = Number.parseInt(digits, 16);
      if (textOf(key) !== digits) throw new SyntaxError(`${digits} is no key`);
      ruled.#seqs.set(key, seq);
    }
    return ruled;
  }

  /** One text: for each seq the key that stands there. */
  state(): string {
    const keys: string[] = [];
    for (const [key, seq] of this.#seqs) {
      while (keys.length <= seq) keys.push(NO_KEY);
      keys[seq] = textOf(key);
    }
    return keys.join('');
  }

  add(id: Hash, seq: number): void {
    this.#seqs.set(keyOf(id), seq);
  }

  seqOf(id: Hash): number | undefined {
    return this.#seqs.get(keyOf(id));
  }
}

const KEY_DIGITS = 13;
const NO_KEY = '-'.repeat(KEY_DIGITS);

function keyOf(id: Hash): number {
  return Number.parseInt(id.slice(0, KEY_DIGITS), 16);
}

function textOf(key: number): string {
  return key.toString(16).padStart(KEY_DIGITS, '0');
}

/** The proposal that an entry rules on, if it does. */
export function proposalOf(row: EntryRow): Hash | undefined {
  const { payload } = readRow(row);
  if (payload.kind === 'pending_approval') return payload.proposal.proposal_id;
  return payload.kind === 'commit' || payload.kind === 'rejection' ? payload.proposal_id : undefined;
}
