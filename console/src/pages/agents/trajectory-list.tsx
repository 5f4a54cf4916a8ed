import { Group, Text, UnstyledButton } from '@mantine/core';
import { CutText } from '../../parts/cut-text.tsx';
import { HaltedChip } from '../../parts/halted.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import classes from '../../parts/rows.module.css';
import type { Trajectory } from './agents-query.ts';
import { parentOf, tieOf } from './kin.ts';

interface ListProps {
  readonly trajectories: readonly Trajectory[];
  readonly openId: string | undefined;
  readonly onOpen: (id: string) => void;
}

/** Trajectories with their domains and origins. */
export function TrajectoryList({ trajectories, openId, onOpen }: ListProps) {
  return (
    <ul className={classes.rows}>
      {trajectories.map((trajectory) => {
        const { trajectory_id: id, domain, entries } = trajectory;
        const parent = parentOf(trajectory);
        return (
          <li key={id}>
            <UnstyledButton
              className={classes.row}
              data-open={id === openId || undefined}
              aria-current={id === openId ? 'true' : undefined}
              onClick={() => onOpen(id)}
            >
              <Group justify="space-between" gap="xs" wrap="nowrap">
                <CutText fw={600} size="sm">
                  <Inert>{id}</Inert>
                </CutText>
                <HaltedChip world={id} />
                <Text size="xs" c="dimmed" className={classes.aside}>
                  {entries} {entries === 1 ? 'entry' : 'entries'}
                </Text>
              </Group>
              <CutText size="xs" c="dimmed">
                <Inert>{`${domain.name}@${domain.version}`}</Inert>
                {parent !== undefined && (
                  <>
                    {' '}
                    · {tieOf(trajectory)} of <Inert>{parent}</Inert>
                  </>
                )}
              </CutText>
            </UnstyledButton>
          </li>
        );
      })}
    </ul>
  );
}
