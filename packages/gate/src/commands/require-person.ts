import { CliError, project } from '@assize/command';
import type { Domain } from 'assize/internal/kernel';
import { maySettle } from '#calls';

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
    `${principal} is no counselor, and cannot ${work}. Pass a principal with --as that can approve calls.`,
  );
}
