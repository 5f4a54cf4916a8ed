import { affordable, type WritChain } from 'assize/host';
import { type Policy, parseWrit, type Writ, writId } from 'assize/internal/authority';
import { isAssizeError } from 'assize/internal/base';
import type { Authority, PolicyRuling } from 'assize/internal/kernel';
import {
  type Amounts,
  type DelegationPayload,
  type Entry,
  type FaultCode,
  type Hash,
  LedgerFault,
  type UndoingCosts,
} from 'assize/internal/ledger';
import {
  type RecordedClaim,
  RecordedWrits,
  requiresApproval,
} from '../deep-replay/recorded-authority.ts';

/** The recorded authority of a proposal, and whether its writ was checked. */
export interface RecordedGrant extends RecordedClaim {
  readonly reached: boolean;
}

/** Answers to the kernel's questions, and notes about them. */
export interface AuthorityAnswers extends Authority {
  /** A policy had to be asked, but the requester is unknown. */
  readonly unknown: boolean;
  /** The writ was assumed to grant the action. */
  readonly assumed: boolean;
}

/**
 * Answers for proposals of one trajectory: writs as recorded, budgets as the earlier entries left
 * them, and the tried policy, or the recorded decision without one.
 */
export class JudgingAuthority extends RecordedWrits {
  readonly #policy: Policy | undefined;
  readonly #delegated: Map<Hash, Writ> = new Map();

  /** `policy`: a total one. */
  constructor(blob: (hash: Hash) => Promise<string | undefined>, policy: Policy | undefined) {
    super(blob);
    this.#policy = policy;
  }

  answers(claim: RecordedGrant, chain: WritChain | undefined): AuthorityAnswers {
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
        return { ok: true, needsApproval: requiresApproval(chain, action) };
      },
      decides: (asked) => {
        if (policy === undefined) return recordedDecision(claim);
        noted.unknown = chain === undefined;
        if (chain === undefined)
          return { ruling: { digest: policy.digest, decision: 'deny' }, detail: '' };
        const { writ } = chain;
        const { trajectory_id } = claim.place;
        const query = {
          ...asked,
          principal: writ.subject,
          writ_id: writId(writ),
          trajectory_id,
          at: claim.at,
        };
        const { decision, rule, reasons, errors } = policy.evaluate(query);
        const ruling: PolicyRuling = {
          digest: policy.digest,
          decision,
          ...(rule === undefined ? {} : { rule }),
        };
        return {
          ruling,
          detail: [...errors, ...reasons].join('; ') || `the policy decided ${decision}`,
        };
      },
      affords: (cost) =>
        chain === undefined ? { ok: true } : affordable(writs, writId(chain.writ), cost),
      approvalDemand: () => claim.held,
    };
  }

  /** Books the cost of a commit. @throws LedgerFault */
  async book({ trajectory_id, seq }: Entry, id: Hash, cost: Amounts): Promise<void> {
    if (Object.keys(cost).length === 0) return;
    await this.writ(id);
    sound(trajectory_id, seq, 'overspent', () => this.writs.book(id, cost));
  }

  /** Books the cost of compensations, up to the remaining budgets. */
  async bookUndoing(costs: UndoingCosts): Promise<void> {
    if ((await this.writ(costs.writId)) !== undefined) this.writs.bookCompensation(costs);
  }

  /**
   * Books the reservation of a delegation, and the refund of its conclusion. @throws LedgerFault
   */
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

function recordedDecision({ policy, refused }: RecordedGrant): ReturnType<Authority['decides']> {
  if (policy === undefined) return undefined;
  const detail =
    refused?.by === 'policy'
      ? refused.detail
      : `the policy decided ${policy.decision}, as recorded`;
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
