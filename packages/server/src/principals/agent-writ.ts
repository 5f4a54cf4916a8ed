import type { WritChain } from 'assize/host';
import { ServerError } from '../errors.ts';
import type { Service } from '../service.ts';
import type { Caller } from './caller.ts';

/**
 * A short writ of a caller for an action in a trajectory.
 *
 * @throws ServerError `forbidden` if the caller has no authority there
 */
export async function agentWrit(
  { caller, service }: { readonly caller: Caller; readonly service: Service },
  trajectoryId: string,
  action: string,
): Promise<WritChain> {
  const writ = await service.grants.forAgent(caller, trajectoryId, action, service.clock.now());
  if (writ !== undefined) return writ;
  throw new ServerError(
    'forbidden',
    `${caller.name} has no grant in the trajectory ${trajectoryId}. Add one to \`principals\` of the configuration. In a delegated trajectory, only the principal of the delegation acts.`,
  );
}
