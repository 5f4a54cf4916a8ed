import {
  anchoredRoot,
  CliError,
  ephemeralWrit,
  headOf,
  type OpeningOptions,
  project,
  type Session,
  withAssize,
} from '@assize/command';
import type { Domain } from 'assize/internal/kernel';
import type { Ruling } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import { maySettle } from '#calls';
import type { GatewayState } from '#gateway';

/** The change of a trajectory that a person makes as an administrator. */
interface PersonalAct {
  readonly trajectory: string;
  readonly principal: string;
  readonly action: string;
  readonly args: (state: GatewayState) => object;
  /** In words: `settle a call`. */
  readonly work: string;
}

/** Proposes it under a writ for this action alone. @throws CliError `usage` */
export function proposeAs(
  { storeUrl }: Session,
  store: Store,
  options: OpeningOptions,
  { trajectory: id, principal, action, args: argsFor, work }: PersonalAct,
): Promise<Ruling> {
  const root = anchoredRoot(storeUrl);
  return withAssize(store, storeUrl, options, async (assize) => {
    const trajectory = await assize.open(id);
    requirePerson(trajectory.domain, principal, action, work);
    const terms = { action, scopes: ['role:admin'], principal };
    const writ = ephemeralWrit(await headOf(store, id), terms, root);
    const args = argsFor(trajectory.state() as unknown as GatewayState);
    return trajectory.propose({ action, role: 'admin', args, writ, principal } as never);
  });
}

/**
 * The principal must be a counselor of the domain, or an administrator of the config, as at a
 * server. `work`: `settle a call`.
 *
 * @throws CliError `usage`
 */
export function requirePerson(
  domain: Domain,
  principal: string,
  action: string,
  work: string,
): void {
  const known = project()?.principals.get(principal);
  const isCounselor = known === undefined || known.kinds.includes('counselor');
  const isAdmin = known?.kinds.includes('admin') === true;
  if ((isCounselor || isAdmin) && maySettle(domain, principal, isAdmin, action)) return;
  throw new CliError(
    'usage',
    `${principal} is not a counselor, and cannot ${work}. Pass a principal with --as that can approve calls.`,
  );
}
