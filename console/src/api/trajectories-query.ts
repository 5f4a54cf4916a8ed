import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from './client.ts';
import type { components } from './openapi.d.ts';

export type TrajectoryInfo = components['schemas']['Trajectory'];

const PAGE = '500';

/** All trajectories of the store, by id. */
export function useAllTrajectories() {
  return useQuery({ queryKey: ['log', 'trajectories', 'all'], queryFn: allTrajectories });
}

export async function allTrajectories(): Promise<readonly TrajectoryInfo[]> {
  const all: TrajectoryInfo[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: PAGE, ...(cursor !== undefined && { cursor }) };
    const page = await dataOf(api.GET('/v1/trajectories', { params: { query } }));
    all.push(...page.trajectories);
    cursor = page.next;
  } while (cursor !== undefined);
  return all;
}
