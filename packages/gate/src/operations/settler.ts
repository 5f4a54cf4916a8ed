import { type Caller, sameAsOneOf } from '@assize/command/operation';
import { KernelError } from 'assize/internal/kernel';
import type { Trajectory } from 'assize/internal/runtime';
import { maySettle } from '#calls';

/**
 * Refuses to let a caller settle a call or end a standing approval that may not decide about calls.
 * `agent`: the agent of the call, which another principal has to settle.
 *
 * @throws KernelError `unauthorised_counselor`
 */
export function requireSettler(
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
