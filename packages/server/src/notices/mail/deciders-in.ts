import { isAssizeError } from 'assize/internal/base';
import { BUILT_IN_ROLE, isCounselorOf, RESOLVE_EFFECT_ACTION } from 'assize/internal/kernel';
import { OPERATOR } from 'assize/internal/ledger';
import type { Assize, Trajectory } from 'assize/internal/runtime';
import type { DecidersOf } from './mail-notices.ts';

/** The principals that may decide, by the domain of the trajectory. */
export function decidersIn(assize: Pick<Assize, 'open'>): DecidersOf {
  return async (trajectoryId, pendingId, among) => {
    const trajectory = await assize.open(trajectoryId);
    try {
      return (await trajectory.approvals.decidersAmong(pendingId, among)).deciders;
    } catch (error) {
      // An operator decides about an effect in doubt.
      if (!isAssizeError(error, 'effect_unresolved')) throw error;
      return among.filter((principal) => isOperator(trajectory, principal));
    }
  };
}

/** Whether a counselor settles calls there. The requester is refused later, when it decides. */
export function isOperator({ domain }: Trajectory, principal: string): boolean {
  try {
    const proposal = { action: RESOLVE_EFFECT_ACTION, role: BUILT_IN_ROLE, args: {} };
    return isCounselorOf(domain, OPERATOR, principal, [], proposal);
  } catch (error) {
    if (isAssizeError(error, 'unauthorised_counselor')) return false;
    throw error;
  }
}
