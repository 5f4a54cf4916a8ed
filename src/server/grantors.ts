import { maySettle } from '#calls';
import { isSamePrincipal, KernelError } from '#kernel';
import type { Hash } from '#ledger';
import { Trajectory } from '#runtime';
import type { Caller } from './principals/caller.ts';
import type { Service } from './service.ts';

/**
 * The principals whose grants the writ of a proposal comes from. The ledger knows a grant by its
 * key, so the runtime cannot compare the names.
 */
export async function grantorsOf(
  { grants }: Pick<Service, 'grants'>,
  trajectory: Trajectory,
  writId: Hash,
): Promise<string[]> {
  const writ = Trajectory.writOf(trajectory, writId);
  return writ === undefined ? [] : grants.grantorsOf(writ);
}

/**
 * Refuses to let a caller settle a call or end a standing approval that may not decide about calls.
 *
 * @throws KernelError `unauthorised_counselor`
 */
export function requireSettler({ name, kinds }: Caller, { domain }: Trajectory, action: string): void {
  if (maySettle(domain, name, kinds.includes('admin'), action)) return;
  const needed = Object.keys(domain.counselors).join(' or ');
  throw new KernelError(
    'unauthorised_counselor',
    `${name} cannot propose ${action}: it needs a counselor of the kind ${needed}, or an admin. Ask another principal.`,
    { evidence: { principal: name } },
  );
}

/**
 * Refuses an approval of the proposal of a stopped or paused agent, or of one that it gave a part
 * of its grant.
 *
 * @throws ConfigError `agent_stopped`
 */
export async function requireActive(
  { service }: { readonly service: Service },
  trajectory: Trajectory,
  writId: Hash,
): Promise<void> {
  const requester = Trajectory.writOf(trajectory, writId)?.writ.subject ?? '';
  await service.grants.stops.requireNone([requester, ...(await grantorsOf(service, trajectory, writId))]);
}

/**
 * Refuses a decision of a principal that passed its grant on to the requester.
 *
 * @throws KernelError `unauthorised_counselor`
 */
export async function requireOther(
  { caller, service }: { readonly caller: Caller; readonly service: Service },
  trajectory: Trajectory,
  writId: Hash,
): Promise<void> {
  const grantors = await grantorsOf(service, trajectory, writId);
  if (!grantors.some((name) => isSamePrincipal(name, caller.name))) return;
  throw new KernelError(
    'unauthorised_counselor',
    `${caller.name} requested this proposal or granted its writ, and cannot decide about it. Ask another principal.`,
    { evidence: { principal: caller.name } },
  );
}
