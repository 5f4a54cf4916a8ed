import { type Policy, type Reservation, type WritVerifier, writId } from '#authority';
import type { Authority, Cost } from '#kernel';
import type { Hash, Instant } from '#ledger';
import { RuntimeError } from '../errors.ts';
import type { WritChain, Writs } from './writs.ts';

/** One use of a writ, for the kernel's questions. */
export interface WritUsage {
  readonly writ: WritChain;
  readonly principal: string;
  readonly trajectoryId: string;
  readonly at: Instant;
  /**
   * A counselor commits the proposal: the policy was asked, and its approval demanded, on
   * submission.
   */
  readonly approving: boolean;
}

/**
 * Answers the kernel's questions from writs, budgets and policy; everything else is already known.
 */
export function authorityFor(
  { writ, principal, trajectoryId, at, approving }: WritUsage,
  writs: Writs,
  verifier: WritVerifier,
  policy: Policy | undefined,
  reserved: readonly Reservation[] = [],
): Authority {
  const id = writId(writ.writ);
  return {
    admits: ({ action, scopes }) => {
      const { revoked, delegated } = writs;
      const trajectory = trajectoryId;
      const check = verifier.check({
        ...writ,
        principal,
        trajectory,
        at,
        action,
        scopes,
        revoked,
        delegated,
      });
      if (!check.ok && approving && check.code === 'unknown_anchor') throw unanchored(writ);
      if (!check.ok) return { ok: false, detail: check.detail };
      writs.admit(writ);
      return { ok: true, needsApproval: check.requiresApproval && !approving };
    },
    decides: ({ action, scopes, role, args, calls }) => {
      if (policy === undefined || approving) return undefined;
      const query = {
        action,
        role,
        args,
        scopes,
        principal,
        writ_id: id,
        trajectory_id: trajectoryId,
        at,
      };
      const { decision, rule, reasons, errors } = policy.evaluate(
        calls === undefined ? query : { ...query, calls },
      );
      const detail = [...errors, ...reasons].join('; ') || `the policy decided ${decision}`;
      return {
        ruling: { decision, digest: policy.digest, ...(rule === undefined ? {} : { rule }) },
        detail,
      };
    },
    affords: (cost) => affordable(writs, id, cost, reserved),
  };
}

/**
 * The proposal was submitted under anchors that included this key. The configuration that lacks the
 * key is at fault, not the proposal.
 */
function unanchored({ writ, chain }: WritChain): RuntimeError {
  const { issuer } = chain.at(-1) ?? writ;
  return new RuntimeError(
    'bad_writ',
    `The root writ of the proposal is issued by ${issuer}, which is not in the given anchors. Add that key to the anchors, then approve it.`,
    { evidence: { code: 'unknown_anchor', issuer } },
  );
}

/**
 * Whether the budgets of a writ and of all its ancestors cover a cost, in addition to reservations.
 * @throws AuthorityError `not_found`
 */
export function affordable(
  writs: Writs,
  id: Hash,
  cost: Cost,
  reserved: readonly Reservation[] = [],
): ReturnType<Authority['affords']> {
  if (Object.keys(cost).length === 0) return { ok: true };
  const answer = writs.budgets.covers(id, cost, reserved);
  if (answer.ok) return { ok: true };
  const { writ_id, unit, left } = answer;
  const beside = reserved.length === 0 ? '' : ' beside the reservations for compensation';
  return {
    ok: false,
    detail: `writ ${writ_id} has ${left} ${unit} left${beside}, and ${answer.cost} are needed`,
  };
}
