import { Anchor, Table } from '@mantine/core';
import { Link } from 'wouter';
import { EntryLink } from '../../parts/entry-link.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { type Trajectory, useBranches, useDelegations } from './agents-query.ts';
import { childrenOf, parentOf, tieOf } from './kin.ts';

interface KinProps {
  readonly trajectory: Trajectory;
  readonly all: readonly Trajectory[];
}

/** The trajectory that this one began from, and those that began from it, as a list. */
export function KinList({ trajectory, all }: KinProps) {
  const id = trajectory.trajectory_id;
  const delegations = useDelegations(id).data;
  const branches = useBranches(id).data ?? [];
  const parent = parentOf(trajectory);
  const openTask = (child: string) => delegations?.open.find((one) => one.child === child);
  const entryOf = (child: string) =>
    branches.find((one) => one.trajectory_id === child)?.source_entry_id ?? openTask(child)?.id;
  return (
    <Table.ScrollContainer minWidth={480} type="native">
      <Table withTableBorder fz={13}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Trajectory</Table.Th>
            <Table.Th>Tie</Table.Th>
            <Table.Th>Task or note</Table.Th>
            <Table.Th>Begins at</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {parent !== undefined && (
            <Table.Tr>
              <Table.Td>
                <TrajectoryLink id={parent} />
              </Table.Td>
              <Table.Td>{tieOf(trajectory) === 'branch' ? 'this is its branch' : 'delegated to this one'}</Table.Td>
              <Table.Td>
                <Inert>{trajectory.note ?? ''}</Inert>
              </Table.Td>
              <Table.Td>{delegations?.origin != null && <EntryLink id={delegations.origin.entry_id} />}</Table.Td>
            </Table.Tr>
          )}
          {childrenOf(all, id).map((child) => {
            const entry = entryOf(child.trajectory_id);
            return (
              <Table.Tr key={child.trajectory_id}>
                <Table.Td>
                  <TrajectoryLink id={child.trajectory_id} />
                </Table.Td>
                <Table.Td>{tieText(child, openTask(child.trajectory_id) !== undefined)}</Table.Td>
                <Table.Td>
                  <Inert>{openTask(child.trajectory_id)?.task ?? child.note ?? ''}</Inert>
                </Table.Td>
                <Table.Td>{entry !== undefined && <EntryLink id={entry} />}</Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function tieText(child: Trajectory, isOpen: boolean): string {
  if (tieOf(child) === 'branch') return 'branch';
  return isOpen ? 'delegation, open' : 'delegation, concluded';
}

function TrajectoryLink({ id }: { readonly id: string }) {
  return (
    <Anchor component={Link} href={`/agents/${encodeURIComponent(id)}`} size="sm" underline="always">
      <Inert>{id}</Inert>
    </Anchor>
  );
}
