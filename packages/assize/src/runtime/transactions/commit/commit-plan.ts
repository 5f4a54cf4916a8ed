import type { LoggedEffect } from '#effects';
import { type CommitPlan, sum } from '../../records/tool-authority.ts';
import type { PlannedRun } from '../log/advance.ts';
import { blobsOf, type PreparedCall } from '../log/call-record.ts';

/**
 * The part of the proposal that a transaction adds: its executed effects that stay, and the calls
 * that run at the commit.
 */
export function commitPlanOf(
  { epoch, planned, hasOnFailure, surviving, commitRecords, abortRecords }: PlannedRun,
  { uses, cost, pivot, calls }: Pick<CommitPlan, 'uses' | 'cost' | 'pivot' | 'calls'>,
): CommitPlan {
  return {
    effects: [...surviving().map(named), ...planned.map(({ effect }) => named(effect))],
    calls,
    epoch,
    cost,
    undoCost: hasOnFailure ? planned.reduce((total, { effect }) => sum(total, effect.undo_cost ?? {}), {}) : {},
    uses,
    pivot,
    blobs: blobsOf(planned),
    commitRecords,
    abortRecords,
  };
}

/** The same for a pending proposal: executed calls are listed as they would be repeated. */
export function pendingPlanOf(
  acting: CommitPlan,
  again: readonly PreparedCall[],
  planned: readonly PreparedCall[],
): CommitPlan {
  const all = [...again, ...planned];
  return { ...acting, effects: all.map(({ effect }) => named(effect)), blobs: blobsOf(all) };
}

/** Fields in canonical order, as in the payload, which serialises fastest. */
function named({ key, payload }: LoggedEffect): CommitPlan['effects'][number] {
  return { effect: payload, id: key };
}
