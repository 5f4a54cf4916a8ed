import { Anchor, Table } from '@mantine/core';
import { Link } from 'wouter';
import { EntryLink, useEntry } from '../../parts/entry-link.tsx';
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
  return (
    <Table.ScrollContainer minWidth={480} type="native">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>World</Table.Th>
            <Table.Th>Tie</Table.Th>
            <Table.Th>Task or note</Table.Th>
            <Table.Th>Begins at</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          <ParentRow trajectory={trajectory} />
          {childrenOf(all, id).map((child) =>
            tieOf(child) === 'branch' ? (
              <BranchRow key={child.trajectory_id} source={id} child={child} />
            ) : (
              <DelegationRow key={child.trajectory_id} delegator={id} child={child} />
            ),
          )}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function ParentRow({ trajectory }: Pick<KinProps, 'trajectory'>) {
  const parent = parentOf(trajectory);
  const isBranch = tieOf(trajectory) === 'branch';
  const origin = useDelegations(trajectory.trajectory_id).data?.origin?.entry_id;
  const entry = isBranch ? undefined : origin;
  const task = useTask(entry);
  if (parent === undefined) return null;
  const tie = isBranch ? 'source of this branch' : 'delegator of this one';
  return <Row id={parent} tie={tie} text={task ?? trajectory.note} entry={entry} />;
}

function BranchRow({ source, child }: { readonly source: string; readonly child: Trajectory }) {
  const branch = useBranches(source).data?.find((one) => one.trajectory_id === child.trajectory_id);
  return (
    <Row id={child.trajectory_id} tie="branch" text={child.note} entry={branch?.source_entry_id} />
  );
}

function DelegationRow({
  delegator,
  child,
}: {
  readonly delegator: string;
  readonly child: Trajectory;
}) {
  const id = child.trajectory_id;
  const delegations = useDelegations(delegator).data;
  const open = delegations?.open.find((one) => one.child === id);
  const isConcluded = delegations !== undefined && open === undefined;
  const origin = useDelegations(id, isConcluded).data?.origin?.entry_id;
  const entry = open?.id ?? origin;
  const task = useTask(entry);
  return (
    <Row
      id={id}
      tie={`delegation, ${isConcluded ? 'concluded' : 'open'}`}
      text={task ?? null}
      entry={entry}
    />
  );
}

/** The task that a delegation's entry names. */
function useTask(entry: string | undefined): string | undefined {
  const payload = useEntry(entry).data?.payload;
  const task = typeof payload === 'object' ? payload['task'] : undefined;
  return typeof task === 'string' ? task : undefined;
}

interface RowProps {
  readonly id: string;
  readonly tie: string;
  readonly text: string | null;
  readonly entry: string | undefined;
}

function Row({ id, tie, text, entry }: RowProps) {
  return (
    <Table.Tr>
      <Table.Td>
        <TrajectoryLink id={id} />
      </Table.Td>
      <Table.Td>{tie}</Table.Td>
      <Table.Td>
        <Inert>{text ?? ''}</Inert>
      </Table.Td>
      <Table.Td>{entry !== undefined && <EntryLink id={entry} withTime />}</Table.Td>
    </Table.Tr>
  );
}

function TrajectoryLink({ id }: { readonly id: string }) {
  return (
    <Anchor
      component={Link}
      href={`/agents/${encodeURIComponent(id)}`}
      size="sm"
      underline="always"
    >
      <Inert>{id}</Inert>
    </Anchor>
  );
}
