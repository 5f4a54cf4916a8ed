import { type Caller, proposeOnce, sameAsOneOf } from '@assize/command/operation';
import { KernelError } from 'assize/internal/kernel';
import type { Trajectory } from 'assize/internal/runtime';
import { rulingView } from 'assize/internal/views';
import { maySettle } from '#calls';
import type { GateService } from './service.ts';

/**
 * Proposes to settle a call or to end a standing approval, for a caller that may decide about
 * calls. `agent`: the agent of the call; another principal has to settle it.
 *
 * @throws KernelError `unauthorised_counselor`
 */
export async function settled(
  request: Parameters<typeof proposeOnce>[0] & { readonly service: GateService },
  trajectory: Trajectory,
  {
    action,
    args,
    agent,
  }: { readonly action: string; readonly args: object; readonly agent?: string | undefined },
): Promise<ReturnType<typeof rulingView>> {
  const { caller, service } = request;
  requireSettler(caller, trajectory, action, agent);
  const writ = service.systemWrits.forAction(
    caller.name,
    action,
    trajectory.id,
    service.clock.now(),
  );
  const ruling = await proposeOnce(request, trajectory, { action, role: 'admin', args, writ });
  service.metrics.ruling(ruling.ruling);
  return rulingView(ruling);
}

function requireSettler(
  caller: Caller,
  { domain }: Trajectory,
  action: string,
  agent?: string,
): void {
  const { name, kinds } = caller;
  const own = agent === undefined ? undefined : sameAsOneOf(caller, [agent, `agent:${agent}`]);
  if (own !== undefined)
    throw new KernelError(
      'unauthorised_counselor',
      `The call is of ${own}. Ask another principal to settle it.`,
      {
        evidence: { principal: name },
      },
    );
  if (maySettle(domain, name, kinds.includes('admin'), action)) return;
  const needed = Object.keys(domain.counselors).join(' or ');
  throw new KernelError(
    'unauthorised_counselor',
    `${name} cannot propose ${action}: it needs a counselor of the kind ${needed}, or an admin. Ask another principal.`,
    { evidence: { principal: name } },
  );
}
