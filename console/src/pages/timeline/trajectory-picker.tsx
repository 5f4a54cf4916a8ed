import { Select } from '@mantine/core';
import { visible } from 'assize/internal/views/visible.ts';
import { useLocation } from 'wouter';
import { useAllTrajectories } from '../../api/trajectories-query.ts';
import { timelineHref } from '../../parts/addresses.ts';

interface PickerProps {
  readonly trajectory: string;
  /** The number of its entries. Undefined until it is known. */
  readonly entries: number | undefined;
}

/** Goes to the timeline of another trajectory. Each is listed with the number of its entries. */
export function TrajectoryPicker({ trajectory, entries }: PickerProps) {
  const [, navigate] = useLocation();
  const { data = [] } = useAllTrajectories();
  const others = data.filter(({ trajectory_id }) => trajectory_id !== trajectory);
  const options = [
    { value: trajectory, label: labelOf(trajectory, entries) },
    ...others.map(({ trajectory_id: id, entries }) => ({ value: id, label: labelOf(id, entries) })),
  ];
  return (
    <Select
      size="xs"
      flex={1}
      miw={0}
      maw={340}
      searchable
      allowDeselect={false}
      aria-label="World"
      value={trajectory}
      limit={200}
      nothingFoundMessage="No such world."
      data={options}
      onChange={(id) => id !== null && navigate(timelineHref(id))}
    />
  );
}

function labelOf(trajectory: string, entries: number | undefined): string {
  if (entries === undefined) return visible(trajectory);
  return `${visible(trajectory)} · ${entries === 1 ? '1 entry' : `${entries.toLocaleString('en')} entries`}`;
}
