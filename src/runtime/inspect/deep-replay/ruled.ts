import type { Json } from '#base';
import type { Ruling } from '#kernel';
import type { Amounts, CommitPayload, PendingPayload, RejectionPayload } from '#ledger';
import { hasToolObservation } from '../../records/tool-authority.ts';

/** What became of a proposal, as a difference shows it. */
export interface Ruled {
  readonly [member: string]: Json;
}

export function described(judged: Ruling): Ruled {
  if (judged.verdict === 'approved') return { ruling: 'committed' };
  const { verdict, reason, detail, invariantId } = judged;
  return { ruling: verdict, reason, ...(invariantId === undefined ? {} : { invariant_id: invariantId }), detail };
}

export function recordedRuling({ kind, reason, detail, invariant_id }: RejectionPayload | PendingPayload): Ruled {
  const ruling = kind === 'rejection' ? 'rejected' : 'escalated';
  return { ruling, reason, ...(invariant_id === undefined ? {} : { invariant_id }), detail };
}

/** What is to be recorded as the cost: of what its tools cost the record is taken, which are not asked again. */
export function costWithTools(
  cost: Amounts,
  { budget_cost: recorded, delta, observations }: Pick<CommitPayload, 'budget_cost' | 'delta' | 'observations'>,
): Amounts {
  const isPart = Object.keys(cost).every((unit) => (cost[unit] as number) <= (recorded[unit] ?? 0));
  return isPart && (delta.effects.length > 0 || hasToolObservation(observations)) ? recorded : cost;
}

/** Whether two rulings are one, whatever words they are in. */
export function isSameRuling(a: Ruled, b: Ruled): boolean {
  return (['ruling', 'reason', 'invariant_id'] as const).every((member) => a[member] === b[member]);
}
