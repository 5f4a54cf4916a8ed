import { Badge } from '@mantine/core';

const WORDS = { active: undefined, paused: 'Paused', stopped: 'Stopped' } as const;

interface ChipProps {
  readonly stop?: keyof typeof WORDS | undefined;
}

/** Beside what an agent is or asks, if it is stopped or paused. */
export function StopChip({ stop = 'active' }: ChipProps) {
  if (WORDS[stop] === undefined) return null;
  return (
    <Badge size="sm" color="red.8" tt="none">
      {WORDS[stop]}
    </Badge>
  );
}
