import { maySettle } from '@assize/gate/internal/calls';
import { isSamePrincipal, KernelError } from 'assize/internal/kernel';
import { type Hash, type ProposalRecord, tokenMakersIn } from 'assize/internal/ledger';
import { Trajectory } from 'assize/internal/runtime';
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
 * `agent`: the agent of the call, which another principal has to settle.
 *
 * @throws KernelError `unauthorised_counselor`
 */
export function requireSettler(caller: Caller, { domain }: Trajectory, action: string, agent?: string): void {
  const { name, kinds } = caller;
  const own = agent === undefined ? undefined : sameAsOneOf(caller, [agent, `agent:${agent}`]);
  if (own !== undefined)
    throw new KernelError('unauthorised_counselor', `The call is of ${own}. Ask another principal to settle it.`, {
      evidence: { principal: name },
    });
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
 * Refuses a decision of a principal that requested the proposal, made the requester's token or
 * passed its grant on to the requester, also by a token that such a principal made.
 *
 * @throws KernelError `unauthorised_counselor`
 */
export async function requireOther(
  { caller, service }: { readonly caller: Caller; readonly service: Service },
  trajectory: Trajectory,
  { writ_id, observations }: Pick<ProposalRecord, 'writ_id' | 'observations'>,
): Promise<void> {
  const requester = Trajectory.writOf(trajectory, writ_id)?.writ.subject ?? '';
  const others = [...(await grantorsOf(service, trajectory, writ_id)), ...tokenMakersIn(observations)];
  const same = sameAsOneOf(caller, others) ?? caller.tokenBy?.find((name) => isSamePrincipal(name, requester));
  if (same === undefined) return;
  const token = same === caller.name ? '' : `, and made the token of ${caller.name}`;
  throw new KernelError(
    'unauthorised_counselor',
    `${same} requested this proposal, granted its writ or made its token${token}, and cannot decide about it. Ask another principal.`,
    { evidence: { principal: caller.name } },
  );
}

/** The caller or the maker of its token, if one of the names is that principal's. */
export function sameAsOneOf({ name, tokenBy = [] }: Caller, names: readonly string[]): string | undefined {
  return [name, ...tokenBy].find((one) => names.some((other) => isSamePrincipal(one, other)));
}
