import { createWritVerifier } from '#authority';
import { isAssizeError } from '#canon';
import { type Entry, type FaultCode, type Hash, LedgerFault, type Run } from '#ledger';
import { loadWrit, type WritChain, Writs } from './writs.ts';

/** What was done under one writ, as far as it is read. */
interface Account {
  /** Of the first entry that names it. */
  readonly seq: number;
  readonly spent: Map<string, number>;
}

/**
 * The part of replay that is about authority and not about the chain (decisions §4.4): every writ that a commit or an
 * open approval names is in the ledger, signed and attenuated down from a root, and what was spent stays in its budget.
 * Which roots count is configuration, and is asked when a writ is used.
 */
export class AuthorityFold {
  readonly #trajectoryId: string;
  readonly #writs: Writs = new Writs();
  readonly #accounts: Map<Hash, Account> = new Map();

  constructor(trajectoryId: string) {
    this.#trajectoryId = trajectoryId;
  }

  /** Takes an entry that replay accepted. @throws LedgerFault */
  note({ seq, payload }: Entry): void {
    if (payload.kind === 'root' || payload.kind === 'branch') {
      this.#sound(seq, 'writ_tampered', () => this.#writs.bind(payload.writs));
    } else if (payload.kind === 'commit') this.#spend(seq, payload.writ_id, payload.budget_cost);
    else if (payload.kind === 'pending_approval') this.#spend(seq, payload.proposal.writ_id, {});
  }

  /** Takes a run that replay accepted. */
  noteRun({ spent }: Run): void {
    for (const { writId, seq, cost } of spent) this.#spend(seq, writId, cost);
  }

  /** The writs with their budgets, after the last entry. @throws LedgerFault */
  async settle(blob: (hash: Hash) => Promise<string | undefined>): Promise<Writs> {
    for (const [id, { seq, spent }] of this.#accounts) {
      const chain = await this.#chainOf(seq, id, blob);
      this.#sound(seq, 'writ_tampered', () => {
        const root = chain.chain.at(-1) ?? chain.writ;
        const held = createWritVerifier({ anchors: [root.issuer] }).verify(chain.writ, chain.chain);
        if (!held.ok) throw this.#fault(seq, 'writ_tampered', held.detail);
        this.#writs.admit(chain);
      });
      this.#sound(seq, 'overspent', () => this.#writs.book(id, Object.fromEntries(spent)));
    }
    return this.#writs;
  }

  async #chainOf(seq: number, id: Hash, blob: (hash: Hash) => Promise<string | undefined>): Promise<WritChain> {
    const known = this.#writs.get(id);
    if (known !== undefined) return known;
    try {
      const chain = await loadWrit(id, this.#writs, blob);
      this.#writs.admit(chain);
      this.#writs.stored(this.#writs.unstored(chain));
      return chain;
    } catch (error) {
      if (!isAssizeError(error)) throw error;
      const code = error.evidence['fault'] === 'writ_missing' ? 'writ_missing' : 'writ_tampered';
      throw this.#fault(seq, code, error.message, error);
    }
  }

  #spend(seq: number, id: Hash, cost: Readonly<Record<string, number>>): void {
    let account = this.#accounts.get(id);
    if (account === undefined) {
      account = { seq, spent: new Map() };
      this.#accounts.set(id, account);
    }
    for (const unit in cost) account.spent.set(unit, (account.spent.get(unit) ?? 0) + (cost[unit] as number));
  }

  #sound(seq: number, code: FaultCode, step: () => void): void {
    try {
      step();
    } catch (error) {
      if (error instanceof LedgerFault || !isAssizeError(error)) throw error;
      throw this.#fault(seq, code, error.message, error);
    }
  }

  #fault(seq: number, code: FaultCode, detail: string, cause?: unknown): LedgerFault {
    return new LedgerFault({ trajectory_id: this.#trajectoryId, seq, code, detail }, cause);
  }
}
