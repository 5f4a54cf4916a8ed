import { type Policy, parseWrit, type Writ, writId } from '#authority';
import { isAssizeError } from '#base';
import type { Authority, PolicyRuling } from '#kernel';
import {
  type Amounts,
  type DelegationPayload,
  type Entry,
  type FaultCode,
  type Hash,
  LedgerFault,
  type UndoingCosts,
} from '#ledger';
import { affordable } from '../../authority/check.ts';
import type { WritChain } from '../../authority/writs.ts';
import { isHeldBack, type RecordedClaim, RecordedWrits } from '../deep-replay/recorded-authority.ts';

/** What is recorded of the authority of a proposal, and whether its writ was looked at. */
export interface Claim extends RecordedClaim {
  readonly reached: boolean;
}

/** The kernel's questions, answered; and what came of answering. */
export interface Answers extends Authority {
  /** A policy was to be asked, and nobody knows for whom. */
  readonly unknown: boolean;
  /** It was taken for granted that the writ grants it. */
  readonly assumed: boolean;
}

/**
 * Answers for proposals of one trajectory: writs as they are recorded, budgets as they were left by the entries before, and
 * the policy that is tried, or the recorded decision where none is.
 */
export class JudgingAuthority extends RecordedWrits {
  readonly #policy: Policy | undefined;
  readonly #delegated: Map<Hash, Writ> = new Map();

  /** `policy`: a total one. */
  constructor(blob: (hash: Hash) => Promise<string | undefined>, policy: Policy | undefined) {
    super(blob);
    this.#policy = policy;
  }

  answers(claim: Claim, chain: WritChain | undefined): Answers {
    const policy = this.#policy;
    const { writs } = this;
    const noted = { unknown: false, assumed: false };
    return {
      get unknown() {
        return noted.unknown;
      },
      get assumed() {
        return noted.assumed;
      },
      admits: ({ action }) => {
        if (claim.refused?.by === 'writ') return { ok: false, detail: claim.refused.detail };
        noted.assumed = !claim.reached;
        return { ok: true, needsApproval: isHeldBack(chain, action) };
      },
      decides: (asked) => {
        if (policy === undefined) return recordedDecision(claim);
        noted.unknown = chain === undefined;
        if (chain === undefined) return { ruling: { digest: policy.digest, decision: 'deny' }, detail: '' };
        const { writ } = chain;
        const { trajectory_id } = claim.place;
        const query = { ...asked, principal: writ.subject, writ_id: writId(writ), trajectory_id, at: claim.at };
        const { decision, rule, reasons, errors } = policy.evaluate(query);
        const ruling: PolicyRuling = { digest: policy.digest, decision, ...(rule === undefined ? {} : { rule }) };
        return { ruling, detail: [...errors, ...reasons].join('; ') || `the policy says ${decision}` };
      },
      affords: (cost) => (chain === undefined ? { ok: true } : affordable(writs, writId(chain.writ), cost)),
      holdsBack: () => claim.held,
    };
  }

  /** Takes what a commit cost. @throws LedgerFault */
  async book({ trajectory_id, seq }: Entry, id: Hash, cost: Amounts): Promise<void> {
    if (Object.keys(cost).length === 0) return;
    await this.writ(id);
    sound(trajectory_id, seq, 'overspent', () => this.writs.book(id, cost));
  }

  /** Takes what undoing effects has cost, as far as the budgets go. */
  async bookUndoing(costs: UndoingCosts): Promise<void> {
    if ((await this.writ(costs.writId)) !== undefined) this.writs.bookUndoing(costs);
  }

  /** Takes what a delegation sets aside, and what comes back with its conclusion. @throws LedgerFault */
  async delegate({ id, trajectory_id, seq, payload }: Entry<DelegationPayload>): Promise<void> {
    const { concludes, child_trajectory_id: child, writ: given, budget_cost: spent = {} } = payload;
    if (concludes === undefined) {
      const writ = sound(trajectory_id, seq, 'writ_tampered', () => parseWrit(given));
      this.#delegated.set(id, writ);
      await this.writ(writ.parent as Hash);
      sound(trajectory_id, seq, 'overspent', () => this.writs.reserve(writ));
    } else if (child !== trajectory_id) {
      const writ = this.#delegated.get(concludes) as Writ;
      sound(trajectory_id, seq, 'overspent', () => this.writs.settle(writ, spent));
    }
  }
}

function recordedDecision({ policy, refused }: Claim): ReturnType<Authority['decides']> {
  if (policy === undefined) return undefined;
  const detail = refused?.by === 'policy' ? refused.detail : `the policy said ${policy.decision}, as recorded`;
  return { ruling: policy, detail };
}

function sound<T>(trajectory_id: string, seq: number, code: FaultCode, step: () => T): T {
  try {
    return step();
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    throw new LedgerFault({ trajectory_id, seq, code, detail: error.message }, error);
  }
}
