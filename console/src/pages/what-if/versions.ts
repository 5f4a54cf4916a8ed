import type { components } from '../../api/openapi.d.ts';
import type { TrajectoryInfo } from '../../api/trajectories-query.ts';

export type Domain = components['schemas']['Domain'];

/** The domain of a trajectory, if the server has it. */
export function recordedDomain(
  domains: readonly Domain[],
  { domain }: TrajectoryInfo,
): Domain | undefined {
  return domains.find(({ hash }) => hash === domain.hash);
}

/** The other versions of the domain of a trajectory. */
export function otherVersions(
  domains: readonly Domain[],
  { domain }: TrajectoryInfo,
): readonly Domain[] {
  return domains.filter(({ name, hash }) => name === domain.name && hash !== domain.hash);
}
