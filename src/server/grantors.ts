import { KernelError } from '#kernel';
import type { Hash } from '#ledger';
import { Trajectory } from '#runtime';
import type { Caller } from './principals/caller.ts';
import type { Service } from './service.ts';

/**
 * Whether the writ of a proposal comes from a grant of a principal. The ledger knows a grant by its
 * key, so the runtime cannot compare the names.
 */
export function isFromGrantOf(
  principal: Pick<Caller, 'name' | 'grants'>,
  { writs }: Service,
  trajectory: Trajectory,
  writId: Hash,
): boolean {
  const writ = Trajectory.writOf(trajectory, writId);
  return writ !== undefined && writs.hasGranted(principal, writ);
}

/**
 * Refuses a decision of a principal that passed its grant on to the requester.
 *
 * @throws KernelError `unauthorised_counselor`
 */
export function requireOther(
  { caller, service }: { readonly caller: Caller; readonly service: Service },
  trajectory: Trajectory,
  writId: Hash,
): void {
  if (!isFromGrantOf(caller, service, trajectory, writId)) return;
  throw new KernelError(
    'unauthorised_counselor',
    `${caller.name} requested this proposal or granted its writ, and cannot decide about it. Ask another principal.`,
    { evidence: { principal: caller.name } },
  );
}
