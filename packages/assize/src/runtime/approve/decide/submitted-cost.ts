import { canonicalize } from '#canon';
import { type Authority, type Cost, KernelError, PROPOSE_AGAIN_HINT } from '#kernel';
import type { PendingPayload } from '#ledger';
import { type CommitPlan, hasToolObservation, sum, withTools } from '../../records/tool-authority.ts';

// A pending proposal books the cost that it was submitted with. The cost of the tools' earlier
// reads was paid then, and is recorded only there.

/** The authority, which must afford the submitted cost too. */
export function withSubmittedCost(
  authority: Authority,
  acting: CommitPlan | undefined,
  { proposal }: PendingPayload,
): Authority {
  const asked = withTools(authority, acting);
  if (!hasToolObservation(proposal.observations)) return asked;
  const { cost = {}, undoCost = {} } = acting ?? {};
  const total = (own: Cost): Cost => greatest(sum(own, cost), proposal.budget_cost);
  return { ...asked, affords: (own) => authority.affords(sum(total(own), undoCost)) };
}

/**
 * The submitted cost is booked. The budgets were checked for the current cost.
 *
 * @throws KernelError `changed_since`
 */
export function requireSubmittedCost({ proposal }: PendingPayload, cost: Cost): void {
  const isLess = hasToolObservation(proposal.observations);
  const [then, now] = [proposal.budget_cost, isLess ? greatest(cost, proposal.budget_cost) : cost].map((each) =>
    canonicalize(each),
  );
  if (then === now) return;
  throw new KernelError(
    'changed_since',
    `The proposal has changed since it was submitted: its cost is now ${now}, not ${then}. ${PROPOSE_AGAIN_HINT}.`,
  );
}

function greatest(one: Cost, other: Cost): Cost {
  const units = Object.keys({ ...one, ...other });
  return Object.fromEntries(units.map((unit) => [unit, Math.max(one[unit] ?? 0, other[unit] ?? 0)]));
}
