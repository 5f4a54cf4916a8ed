import { type Caller, sameAsOneOf } from '@assize/command/operation';
import { isSamePrincipal, KernelError } from 'assize/internal/kernel';
import { type Hash, type ProposalRecord, tokenMakersIn } from 'assize/internal/ledger';
import { Trajectory } from 'assize/internal/runtime';
import type { ServerService } from '../service.ts';

/**
 * The principals whose grants the writ of a proposal comes from. The ledger knows a grant by its
 * key, so the runtime cannot compare the names.
 */
export async function grantorsOf(
  { grants }: Pick<ServerService, 'grants'>,
  trajectory: Trajectory,
  writId: Hash,
): Promise<string[]> {
  const writ = Trajectory.writOf(trajectory, writId);
  return writ === undefined ? [] : grants.grantorsOf(writ);
}

/**
 * Refuses an approval of the proposal of a stopped or paused agent, or of one that it gave a part
 * of its grant.
 *
 * @throws ConfigError `agent_stopped`
 */
export async function requireActive(
  { service }: { readonly service: ServerService },
  trajectory: Trajectory,
  writId: Hash,
): Promise<void> {
  const requester = Trajectory.writOf(trajectory, writId)?.writ.subject ?? '';
  await service.grants.stops.requireNone([
    requester,
    ...(await grantorsOf(service, trajectory, writId)),
  ]);
}

/** Whether one of the names is stopped or paused in the store. @throws LedgerFault */
export async function stopAmong(
  { grants: { stops } }: Pick<ServerService, 'grants'>,
  names: readonly string[],
) {
  await stops.refresh();
  return names.map((name) => stops.of(name)).find((stop) => stop !== undefined);
}

/**
 * Refuses a decision of a principal that requested the proposal, made the requester's token or
 * passed its grant on to the requester, also by a token that such a principal made.
 *
 * @throws KernelError `unauthorised_counselor`
 */
export async function requireOther(
  { caller, service }: { readonly caller: Caller; readonly service: ServerService },
  trajectory: Trajectory,
  { writ_id, observations }: Pick<ProposalRecord, 'writ_id' | 'observations'>,
): Promise<void> {
  const requester = Trajectory.writOf(trajectory, writ_id)?.writ.subject ?? '';
  const others = [
    ...(await grantorsOf(service, trajectory, writ_id)),
    ...tokenMakersIn(observations),
  ];
  const same =
    sameAsOneOf(caller, others) ?? caller.tokenBy?.find((name) => isSamePrincipal(name, requester));
  if (same === undefined) return;
  const token = same === caller.name ? '' : `, and made the token of ${caller.name}`;
  throw new KernelError(
    'unauthorised_counselor',
    `${same} requested this proposal, granted its writ or made its token${token}, and cannot decide about it. Ask another principal.`,
    { evidence: { principal: caller.name } },
  );
}
