import { List, Text } from '@mantine/core';
import { Inert } from '../../parts/inert-text.tsx';
import { useDelegations } from './agents-query.ts';

interface OpenProps {
  readonly trajectory: string;
  /** The sentence before the names. */
  readonly says: string;
}

/** The trajectories of open delegations, if there are any. A halt or a revocation reaches them. */
export function OpenDelegations({ trajectory, says }: OpenProps) {
  const open = useDelegations(trajectory).data?.open ?? [];
  if (open.length === 0) return null;
  return (
    <div>
      <Text size="sm">{says}</Text>
      <List size="sm">
        {open.map(({ id, child, task }) => (
          <List.Item key={id}>
            <Inert>{child}</Inert>: <Inert>{task}</Inert>
          </List.Item>
        ))}
      </List>
    </div>
  );
}
