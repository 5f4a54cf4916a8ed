import { Alert, Badge, Group, Stack, Text, Title } from '@mantine/core';
import { useMemo } from 'react';
import { Inert } from '../../parts/inert-text.tsx';
import { Ago } from '../../parts/instant.tsx';
import { Part } from '../../parts/part.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { RulesPart } from '../rules/rules-part.tsx';
import { StandingPart } from '../standing/standing-list.tsx';
import { type Trajectory, useIsAdmin, useTrajectory, useWrits } from './agents-query.ts';
import { DRAWN_MAX, familyOf } from './kin.ts';
import { KinGraph } from './kin-graph.tsx';
import { KinList } from './kin-list.tsx';
import { StopButton } from './stop-button.tsx';
import { writTrees } from './writ-nodes.ts';
import { WritTree } from './writ-tree.tsx';

interface DetailProps {
  readonly id: string;
  readonly all: readonly Trajectory[];
  /** The id of the chosen writ. */
  readonly writ: string | undefined;
}

/** One trajectory: whether it runs, its writs, and its ties to others. */
export function TrajectoryDetail({ id, all, writ }: DetailProps) {
  const found = useTrajectory(id);
  const isAdmin = useIsAdmin();
  if (found.isPending) return <Loading what="the world" />;
  if (found.data === undefined)
    return <Failed error={found.error} retry={() => void found.refetch()} />;
  const { domain, entries, pending, halted, note } = found.data;
  return (
    <Stack gap="lg">
      <header>
        <Group justify="space-between" wrap="nowrap" align="flex-start">
          <Group gap="xs">
            <Title order={2} size="h4" className="wraps">
              <Inert>{id}</Inert>
            </Title>
            <Badge variant="default" tt="none">
              <Inert>{`${domain.name}@${domain.version}`}</Inert>
            </Badge>
            {halted !== null && (
              <Badge color="red.8" tt="none">
                Halted
              </Badge>
            )}
          </Group>
          {isAdmin && (
            <StopButton
              trajectory={id}
              does={halted === null ? 'halt' : 'resume'}
              pending={pending}
            />
          )}
        </Group>
        <Text size="sm" c="dimmed">
          {entries} {entries === 1 ? 'entry' : 'entries'}, {pending} waiting
          {note !== null && (
            <>
              {' '}
              · <Inert>{note}</Inert>
            </>
          )}
        </Text>
        {halted !== null && (
          <Alert
            color="red"
            variant="light"
            mt="xs"
            title="No proposal and no approval counts here"
          >
            <Inert>{halted.principal}</Inert> halted it <Ago at={halted.at} />:{' '}
            <Inert>{halted.reason}</Inert>
          </Alert>
        )}
      </header>
      <Part title="Writs">
        <Writs trajectory={id} chosen={writ} />
      </Part>
      {domain.name === 'gateway' && <RulesPart trajectory={id} />}
      {domain.name === 'gateway' && <StandingPart trajectory={id} />}
      <Part title="Branches and delegations">
        <Kin trajectory={found.data} all={all} />
      </Part>
    </Stack>
  );
}

function Writs({
  trajectory,
  chosen,
}: {
  readonly trajectory: string;
  readonly chosen: string | undefined;
}) {
  const found = useWrits(trajectory);
  const trees = useMemo(() => writTrees(found.data ?? []), [found.data]);
  if (found.isPending) return <Loading what="writs" />;
  if (found.data === undefined)
    return <Failed error={found.error} retry={() => void found.refetch()} />;
  if (trees.length === 0) return <Text size="sm">No writ was used here yet.</Text>;
  const isUnknown = chosen !== undefined && !found.data.some(({ id }) => id === chosen);
  return (
    <>
      {isUnknown && (
        <Text size="sm">
          This world does not know the writ <Inert>{chosen.slice(0, 12)}</Inert>.
        </Text>
      )}
      <WritTree trajectory={trajectory} nodes={trees} chosen={chosen} />
    </>
  );
}

function Kin({
  trajectory,
  all,
}: {
  readonly trajectory: Trajectory;
  readonly all: readonly Trajectory[];
}) {
  const family = useMemo(
    () => familyOf(all, trajectory.trajectory_id),
    [all, trajectory.trajectory_id],
  );
  if (family.length < 2)
    return <Text size="sm">It began from no other world, and none began from it.</Text>;
  return (
    <>
      <KinGraph family={family} current={trajectory.trajectory_id} />
      {family.length === DRAWN_MAX && (
        <Text size="sm">
          The drawing shows the first {DRAWN_MAX}. The list below has all of this world.
        </Text>
      )}
      <KinList trajectory={trajectory} all={all} />
    </>
  );
}
