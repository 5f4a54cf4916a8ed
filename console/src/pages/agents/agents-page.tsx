import { Group, SegmentedControl, Text, TextInput, VisuallyHidden } from '@mantine/core';
import { useState } from 'react';
import { useLocation, useParams, useSearchParams } from 'wouter';
import { useAllTrajectories } from '../../api/trajectories-query.ts';
import { decoded } from '../../parts/addresses.ts';
import { KeyLegend, MOVES } from '../../parts/key-legend.tsx';
import { useListKeys } from '../../parts/list-keys.ts';
import { ShowMore } from '../../parts/show-more.tsx';
import { SplitView } from '../../parts/split-view.tsx';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import { AgentList } from './agent-list.tsx';
import { useIsAdmin } from './agents-query.ts';
import { People } from './people.tsx';
import { TrajectoryDetail } from './trajectory-detail.tsx';
import { TrajectoryList } from './trajectory-list.tsx';

/** Rows that are drawn at first, and more at each step. */
const STEP = 200;

/** The trajectories, and what may act in the chosen one. For admins also sessions and tokens. */
export default function AgentsPage() {
  const params = useParams<{ readonly trajectory?: string }>();
  const id = params.trajectory === undefined ? undefined : decoded(params.trajectory);
  const [, navigate] = useLocation();
  const [search, setSearch] = useSearchParams();
  const isPeople = search.get('view') === 'people';
  const wanted = search.get('find') ?? '';
  const [limit, setLimit] = useState(STEP);
  const isAdmin = useIsAdmin();
  const found = useAllTrajectories();
  const all = found.data ?? [];
  const matching = all.filter((one) =>
    one.trajectory_id.toLowerCase().includes(wanted.toLowerCase()),
  );
  const find = wanted === '' ? '' : `?find=${encodeURIComponent(wanted)}`;
  const open = (next: string | undefined) =>
    navigate(`/agents${next === undefined ? '' : `/${encodeURIComponent(next)}`}${find}`);
  useListKeys(
    matching.map((one) => one.trajectory_id),
    id,
    open,
  );

  const head = (
    <>
      <Group justify="space-between" wrap="nowrap" gap="xs" mb={8} mih={30}>
        <Text fw={700} fz={18} aria-hidden>
          Agents
          <Text span c="dimmed" ml={6} size="sm">
            {matching.length}
          </Text>
        </Text>
        {(isAdmin || isPeople) && (
          <SegmentedControl
            size="xs"
            aria-label="Trajectories or people"
            value={isPeople ? 'people' : 'trajectories'}
            onChange={(value) => navigate(value === 'people' ? '/agents?view=people' : '/agents')}
            data={[
              { value: 'trajectories', label: 'Trajectories' },
              { value: 'people', label: 'People' },
            ]}
          />
        )}
      </Group>
      <TextInput
        size="xs"
        aria-label="Find a trajectory"
        placeholder="Find a trajectory"
        value={wanted}
        onChange={(event) => {
          const { value } = event.currentTarget;
          setSearch(value === '' ? {} : { find: value }, { replace: true });
        }}
      />
    </>
  );
  const list = (
    <>
      {found.error !== null && <Failed error={found.error} retry={() => void found.refetch()} />}
      {found.isPending && <Loading what="trajectories" />}
      {found.data !== undefined && matching.length === 0 && (
        <Empty title="No trajectory">
          {wanted === '' ? 'A trajectory appears here when it begins.' : 'No name has this text.'}
        </Empty>
      )}
      <TrajectoryList
        trajectories={matching.slice(0, limit)}
        openId={isPeople ? undefined : id}
        onOpen={open}
      />
      {matching.length > limit && <ShowMore onMore={() => setLimit(limit + STEP)} />}
    </>
  );
  return (
    <>
      <VisuallyHidden component="h1">Agents</VisuallyHidden>
      <SplitView
        head={head}
        list={list}
        listLabel="Trajectories"
        detailLabel={isPeople ? 'People' : 'Trajectory'}
        isOpen={isPeople || id !== undefined}
        backLabel="Agents"
        onBack={() => open(undefined)}
        detail={
          isPeople ? (
            <People />
          ) : id === undefined ? (
            <>
              <AgentList />
              <Empty title="Choose a trajectory">
                It shows who may act there, by which writs and budgets.
                <KeyLegend keys={MOVES} />
              </Empty>
            </>
          ) : (
            <TrajectoryDetail key={id} id={id} all={all} writ={search.get('writ') ?? undefined} />
          )
        }
      />
    </>
  );
}
