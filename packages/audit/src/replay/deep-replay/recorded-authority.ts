import { loadWrit, type WritChain, Writs } from 'assize/host';
import {
  AuthorityError,
  covers,
  failClosedPolicy,
  type Policy,
  writId,
} from 'assize/internal/authority';
import { isAssizeError, isInstance, type Json } from 'assize/internal/base';
import { CanonError } from 'assize/internal/canon';
import type { ApprovalDemand, Authority } from 'assize/internal/kernel';
import {
  type Hash,
  type Instant,
  LedgerFault,
  type PendingPayload,
  type PolicyRecord,
} from 'assize/internal/ledger';
import { RuntimeError } from 'assize/internal/runtime';
import { type EntryPlace, type Findings, isSame } from './report.ts';

/** The recorded authority of one proposal. */
export interface RecordedClaim {
  readonly place: EntryPlace;
  readonly at: Instant;
  readonly writ_id?: Hash;
  readonly policy?: PolicyRecord;
  /** The refusal, if a writ, a policy or a budget refused. */
  readonly refused?: { readonly by: 'writ' | 'policy' | 'budget'; readonly detail: string };
  /** The reason for the approval, if it may concern a tool, because tools are not checked again. */
  readonly held?: ApprovalDemand;
}

/**
 * For a pending proposal with effects. Writ or policy may have required approval for a tool instead
 * of the action, or a pivot tool required it. A pivot tool may also have added a kind of counselor;
 * the channel then has that kind.
 */
export function heldWithTools({
  reason,
  detail,
  channel,
  proposal,
}: PendingPayload): Pick<RecordedClaim, 'held'> {
  // Facts are not checked again.
  if (reason === 'contradiction') return { held: { reason, detail, channel } };
  if (proposal.delta.effects.length === 0) return {};
  if (reason === 'irreversible') return { held: { reason, detail, channel } };
  return reason === 'policy_needs_approval' || reason === 'writ_requires_approval'
    ? { held: { reason, detail } }
    : {};
}

/** The writs of one trajectory, as its entries have them. */
export class RecordedWrits {
  protected readonly writs: Writs = new Writs();
  readonly #blob: (hash: Hash) => Promise<string | undefined>;

  constructor(blob: (hash: Hash) => Promise<string | undefined>) {
    this.#blob = blob;
  }

  /** Adds the writs of the first entry of a trajectory. @throws LedgerFault */
  bind({
    trajectory_id,
    seq,
    writs,
  }: {
    trajectory_id: string;
    seq: number;
    writs: readonly Json[];
  }): void {
    try {
      this.writs.bind(writs);
    } catch (error) {
      if (!isAssizeError(error)) throw error;
      throw new LedgerFault(
        { trajectory_id, seq, code: 'writ_tampered', detail: error.message },
        error,
      );
    }
  }

  /**
   * The writ with its ancestors. Undefined if the ledger lacks it. That is allowed for a refusal.
   */
  async writ(id: Hash | undefined): Promise<WritChain | undefined> {
    if (id === undefined) return undefined;
    const known = this.writs.get(id);
    if (known !== undefined) return known;
    try {
      const loaded = await loadWrit(id, this.writs, this.#blob);
      this.writs.admit(loaded);
      return loaded;
    } catch (error) {
      if (
        isInstance(error, RuntimeError) ||
        isInstance(error, AuthorityError) ||
        isInstance(error, CanonError)
      )
        return undefined;
      throw error;
    }
  }
}

/**
 * Answers the kernel's questions as they were answered when the entries of one trajectory were
 * made.
 */
export class RecordedAuthority extends RecordedWrits {
  readonly #policy: Policy | undefined;
  readonly #findings: Findings;

  constructor(
    blob: (hash: Hash) => Promise<string | undefined>,
    policy: Policy | undefined,
    findings: Findings,
  ) {
    super(blob);
    this.#policy = policy === undefined ? undefined : failClosedPolicy(policy);
    this.#findings = findings;
  }

  /**
   * The authority for a proposal. The writ tells whether it required approval; the record tells
   * everything else.
   */
  answers(claim: RecordedClaim, writ: WritChain | undefined): Authority {
    const { refused, policy } = claim;
    return {
      admits: ({ action }) =>
        refused?.by === 'writ'
          ? { ok: false, detail: refused.detail }
          : { ok: true, needsApproval: requiresApproval(writ, action) },
      decides: (asked) => {
        if (policy === undefined) return undefined;
        this.#askAgain(claim, policy, writ, asked);
        return { ruling: policy, detail: refused?.by === 'policy' ? refused.detail : '' };
      },
      affords: () =>
        refused?.by === 'budget' ? { ok: false, detail: refused.detail } : { ok: true },
      approvalDemand: () => claim.held,
    };
  }

  /**
   * Whether the answers need the writ. It is not read for plain commits, for which no writ required
   * approval.
   */
  asks({ policy }: Pick<RecordedClaim, 'policy'>): boolean {
    return policy !== undefined && policy.digest === this.#policy?.digest;
  }

  #askAgain(
    { place, at }: RecordedClaim,
    recorded: PolicyRecord,
    chain: WritChain | undefined,
    asked: Parameters<Authority['decides']>[0],
  ): void {
    if (this.#policy === undefined || !this.asks({ policy: recorded }) || chain === undefined) {
      this.#findings.takeAsRecorded('policy');
      return;
    }
    const { writ } = chain;
    const { decision, rule } = this.#policy.evaluate({
      ...asked,
      principal: writ.subject,
      writ_id: writId(writ),
      trajectory_id: place.trajectory_id,
      at,
    });
    const now = { digest: recorded.digest, decision, ...(rule === undefined ? {} : { rule }) };
    if (!isSame(recorded, now)) this.#findings.differs(place, 'policy', recorded, now);
  }
}

/** Whether a writ requires approval for an action. */
export function requiresApproval(chain: WritChain | undefined, action: string): boolean {
  return chain?.writ.require_approval?.some((name) => covers(name, action)) === true;
}
