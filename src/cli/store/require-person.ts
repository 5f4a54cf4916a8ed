import { type Domain, isCounselorOf } from '#kernel';
import { CliError } from '../errors.ts';
import { project } from './project.ts';

/**
 * A principal of the config must be a counselor or an administrator there, as at a server. Any
 * other name must be a counselor of the domain, as for an approval. `work`: `settle a call`.
 *
 * @throws CliError `usage`
 */
export function requirePerson(domain: Domain, principal: string, action: string, work: string): void {
  const known = project()?.principals.get(principal);
  const proposal = { action, role: 'admin', args: {} };
  const isPerson =
    known === undefined
      ? Object.keys(domain.counselors).some((kind) => isCounselorOf(domain, kind, principal, [], proposal as never))
      : known.kinds.some((kind) => kind === 'counselor' || kind === 'admin');
  if (isPerson) return;
  throw new CliError(
    'usage',
    `${principal} is no counselor, and cannot ${work}. Pass a principal with --as that can approve calls.`,
  );
}
