import { isAssizeError } from '#base';
import { contentHash } from '#canon';
import type { Domain } from '#kernel';
import type { Assize, Ruling, Trajectory } from '#runtime';
import { AGENTS, type AgentsState, agentsDomain } from './agents-domain.ts';
import type { GrantIssuer } from './grant-issuer.ts';
import {
  PRINCIPAL,
  revokeWritsOf,
  type WithdrawOptions,
  withdrawGrants,
} from './withdraw-grants.ts';

/** A change of what an agent may do in a store. */
export interface AgentChange {
  readonly does: 'stop' | 'pause' | 'resume';
  readonly agent: string;
  /** The principal that makes the change. */
  readonly by: string;
  /** The other principals that made the token of the change. */
  readonly tokenBy?: readonly string[] | undefined;
  readonly reason: string;
}

/**
 * Stops or pauses an agent, or brings it back, as an entry of the store. A stop first ends the
 * requests that wait to bring the agent back. After it, each grant that the agent used is revoked,
 * with all below it, and each writ of its name. A failure in a trajectory goes to `onFailure`: the
 * agent is stopped there too, and the next start revokes the rest.
 *
 * @throws the errors of `Assize.create`, `Assize.open` and `Trajectory.propose`
 */
export async function changeAgent(
  issuer: GrantIssuer,
  change: AgentChange,
  options: WithdrawOptions,
): Promise<Ruling> {
  const { does, agent, by, tokenBy, reason } = change;
  const { assize, now } = options;
  const trajectory = await agentsTrajectory(assize);
  if (does === 'stop') await endComebacks(trajectory, change);
  const grant = { subject: by, trajectory: AGENTS, actions: [does], scopes: ['**'] };
  const writ = issuer.brief({ ...grant, nonce: contentHash({ does, agent, by, now }) }, now);
  const role = { name: 'keeper', params: { agent } } as const;
  const ruling = await trajectory.propose({
    action: does,
    role,
    args: { reason, by },
    writ,
    tokenBy,
  } as never);
  await issuer.stops.refresh('now');
  // Also after a refusal: an earlier stop may have left something to revoke.
  if (does !== 'stop') return ruling;
  await withdrawGrants(issuer, options);
  await revokeWritsOf(issuer, agent, options);
  return ruling;
}

/** Rejects what waits about an agent, in the name of the server: its requester may not. */
async function endComebacks(
  trajectory: Trajectory<Domain<AgentsState>>,
  { agent, by, reason }: AgentChange,
): Promise<void> {
  await trajectory.refresh();
  const decision = {
    principal: PRINCIPAL,
    method: 'stop',
    reason: `${by} stops ${agent}: ${reason}`,
  };
  for (const { id, payload } of trajectory.approvals.pending())
    if (payload.proposal.action.role.params['agent'] === agent)
      await trajectory.approvals.reject(id, decision);
}

/** The trajectory of the stopped agents, created at its first use. */
async function agentsTrajectory(assize: Assize): Promise<Trajectory<Domain<AgentsState>>> {
  try {
    return await assize.open(AGENTS, agentsDomain());
  } catch (error) {
    if (!isAssizeError(error, 'not_found')) throw error;
  }
  try {
    return await assize.create(agentsDomain(), {
      trajectoryId: AGENTS,
      note: 'agents that are stopped or paused',
    });
  } catch (error) {
    if (!isAssizeError(error, 'exists')) throw error;
    return assize.open(AGENTS, agentsDomain());
  }
}
