import { useQuery } from '@tanstack/react-query';
import { beginnings } from './changed-by.ts';
import { api, dataOf } from './client.ts';
import type { LogEvent } from './events.ts';
import type { components } from './openapi.d.ts';

export type TrajectoryInfo = components['schemas']['Trajectory'];

const PAGE = '500';

/** All trajectories of the store, by id. */
export function useAllTrajectories(enabled = true) {
  return useQuery({
    enabled,
    queryKey: ['log', 'trajectories', 'all'],
    meta: { ...beginnings, next: (all, event) => grown(all as readonly TrajectoryInfo[], event) },
    queryFn: allTrajectories,
  });
}

/** The trajectories after a new entry. One that begins is absent until they are loaded again. */
function grown(all: readonly TrajectoryInfo[], event: LogEvent): readonly TrajectoryInfo[] {
  return all.map((one) => {
    if (one.trajectory_id !== event.trajectory_id || event.seq < one.entries) return one;
    return { ...one, entries: event.seq + 1, head: event.id, at: event.at };
  });
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
