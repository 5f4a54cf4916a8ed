import { hasToolObservation } from 'assize/host';
import type { Json } from 'assize/internal/base';
import type { Ruling } from 'assize/internal/kernel';
import type {
  Amounts,
  CommitPayload,
  PendingPayload,
  RejectionPayload,
} from 'assize/internal/ledger';

/** The outcome of a proposal, as a difference shows it. */
export interface ShownRuling {
  readonly [member: string]: Json;
}

export function described(judged: Ruling): ShownRuling {
  if (judged.verdict === 'approved') return { ruling: 'committed' };
  const { verdict, reason, detail, invariantId } = judged;
  return {
    ruling: verdict,
    reason,
    ...(invariantId === undefined ? {} : { invariant_id: invariantId }),
    detail,
  };
}

export function recordedRuling({
  kind,
  reason,
  detail,
  invariant_id,
}: RejectionPayload | PendingPayload): ShownRuling {
  const ruling = kind === 'rejection' ? 'rejected' : 'escalated';
  return { ruling, reason, ...(invariant_id === undefined ? {} : { invariant_id }), detail };
}

/**
 * The expected recorded cost. The cost of tools is taken from the record, because tools are not
 * called again.
 */
export function costWithTools(
  cost: Amounts,
  {
    budget_cost: recorded,
    delta,
    observations,
  }: Pick<CommitPayload, 'budget_cost' | 'delta' | 'observations'>,
): Amounts {
  const isPart = Object.keys(cost).every((unit) => (cost[unit] as number) <= (recorded[unit] ?? 0));
  return isPart && (delta.effects.length > 0 || hasToolObservation(observations)) ? recorded : cost;
}

/** Whether two rulings are the same, apart from their wording. */
export function isSameRuling(a: ShownRuling, b: ShownRuling): boolean {
  return (['ruling', 'reason', 'invariant_id'] as const).every((member) => a[member] === b[member]);
}
