import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { visible } from '../../../../src/cli/terminal/visible.ts';
import { api, dataOf } from '../../api/client.ts';
import { timelineHref } from './timeline-address.ts';

const LISTED = '500';

/** The trajectories of the store. */
export function useTrajectories() {
  return useQuery({
    queryKey: ['log', 'trajectories'],
    queryFn: () => dataOf(api.GET('/v1/trajectories', { params: { query: { limit: LISTED } } })),
  });
}

/** Goes to the timeline of another trajectory. Each is listed with the number of its entries. */
export function TrajectoryPicker({ trajectory }: { readonly trajectory: string }) {
  const [, navigate] = useLocation();
  const { data } = useTrajectories();
  const listed = data?.trajectories ?? [];
  const options = listed.map(({ trajectory_id: id, entries }) => ({
    value: id,
    label: `${visible(id)} · ${entries === 1 ? '1 entry' : `${entries.toLocaleString('en')} entries`}`,
  }));
  const isListed = listed.some(({ trajectory_id }) => trajectory_id === trajectory);
  return (
    <Select
      size="xs"
      flex={1}
      miw={0}
      maw={340}
      searchable
      allowDeselect={false}
      aria-label="Trajectory"
      value={trajectory}
      limit={200}
      nothingFoundMessage="No such trajectory among the first 500."
      data={isListed ? options : [{ value: trajectory, label: visible(trajectory) }, ...options]}
      onChange={(id) => id !== null && navigate(timelineHref(id))}
    />
  );
}
