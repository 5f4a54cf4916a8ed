import type { Json } from '#canon';
import type { Ruling } from '#kernel';
import type { Amounts, Delta, PendingPayload, RejectionPayload } from '#ledger';

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
export function costWithTools(cost: Amounts, recorded: Amounts, { effects }: Delta): Amounts {
  const isPart = Object.keys(cost).every((unit) => (cost[unit] as number) <= (recorded[unit] ?? 0));
  return effects.length > 0 && isPart ? recorded : cost;
}

/** Whether two rulings are one, whatever words they are in. */
export function isSameRuling(a: Ruled, b: Ruled): boolean {
  return (['ruling', 'reason', 'invariant_id'] as const).every((member) => a[member] === b[member]);
}
