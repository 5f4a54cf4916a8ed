import type { Domain } from 'assize/internal/kernel';
import type { Assize, CreateOptions, Trajectory } from 'assize/internal/runtime';

/** Opens a world of the tour, or creates it. */
export async function openOrCreate(
  assize: Assize,
  domain: Domain,
  beginning: CreateOptions & { readonly trajectoryId: string },
): Promise<Trajectory> {
  const known = await assize.trajectories();
  if (known.some(({ trajectory_id }) => trajectory_id === beginning.trajectoryId))
    return assize.open(beginning.trajectoryId);
  return (await assize.create(domain, beginning)) as Trajectory;
}
