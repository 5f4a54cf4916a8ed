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
import { AgentDetail } from './agent-detail.tsx';
import { AgentList } from './agent-list.tsx';
import { useAgents, useIsAdmin } from './agents-query.ts';
import { People } from './people.tsx';
import { TrajectoryDetail } from './trajectory-detail.tsx';
import { TrajectoryList } from './trajectory-list.tsx';

/** Rows that are drawn at first, and more at each step. */
const STEP = 200;

type View = 'agents' | 'worlds' | 'people';

/** The agents, the worlds with what may act in each, and for admins sessions and tokens. */
export default function AgentsPage() {
  const params = useParams<{ readonly trajectory?: string }>();
  const id = params.trajectory === undefined ? undefined : decoded(params.trajectory);
  const [, navigate] = useLocation();
  const [search, setSearch] = useSearchParams();
  const asked = search.get('view');
  const view: View =
    id !== undefined || asked === 'worlds' ? 'worlds' : asked === 'people' ? asked : 'agents';
  const wanted = search.get('find') ?? '';
  const name = search.get('agent') ?? undefined;
  const [limit, setLimit] = useState(STEP);
  const isAdmin = useIsAdmin();
  const worlds = useAllTrajectories();
  const agents = useAgents();
  const all = worlds.data ?? [];
  const isWanted = (one: string) => one.toLowerCase().includes(wanted.toLowerCase());
  const matching = all.filter((one) => isWanted(one.trajectory_id));
  const known = (agents.data?.agents ?? []).filter((one) => isWanted(one.name));
  const agent = agents.data?.agents.find((one) => one.name === name);
  const find = wanted === '' ? {} : { find: wanted };
  const isAgents = view === 'agents';
  const open = (next: string | undefined) => {
    if (isAgents) setSearch({ ...find, ...(next !== undefined && { agent: next }) });
    else if (next === undefined)
      navigate(`/agents?${new URLSearchParams({ view: 'worlds', ...find })}`);
    else navigate(`/agents/${encodeURIComponent(next)}?${new URLSearchParams(find)}`);
  };
  const names = isAgents ? known.map((one) => one.name) : matching.map((one) => one.trajectory_id);
  useListKeys(names, isAgents ? name : id, open);
  const found = isAgents ? agents : worlds;
  const what = isAgents ? 'agent' : 'world';

  const head = (
    <>
      <Group justify="space-between" wrap="nowrap" gap="xs" mb={8} mih={30}>
        <Text fw={700} fz={18} aria-hidden>
          Agents
          <Text span c="dimmed" ml={6} size="sm">
            {names.length}
          </Text>
        </Text>
        <SegmentedControl
          size="xs"
          aria-label="Agents, worlds or people"
          value={view}
          onChange={(value) => navigate(value === 'agents' ? '/agents' : `/agents?view=${value}`)}
          data={[
            { value: 'agents', label: 'Agents' },
            { value: 'worlds', label: 'Worlds' },
            ...(isAdmin || view === 'people' ? [{ value: 'people', label: 'People' }] : []),
          ]}
        />
      </Group>
      <TextInput
        size="xs"
        aria-label={`Find ${isAgents ? 'an agent' : 'a world'}`}
        placeholder={`Find ${isAgents ? 'an agent' : 'a world'}`}
        value={wanted}
        onChange={(event) => {
          const next = new URLSearchParams(search);
          const { value } = event.currentTarget;
          value === '' ? next.delete('find') : next.set('find', value);
          setSearch(next, { replace: true });
        }}
      />
    </>
  );
  const list = (
    <>
      {found.error !== null && <Failed error={found.error} retry={() => void found.refetch()} />}
      {found.isPending && <Loading what={`${what}s`} />}
      {found.data !== undefined && names.length === 0 && (
        <Empty title={`No ${what}`}>
          {wanted !== ''
            ? 'No name has this text.'
            : isAgents
              ? 'The configuration names none.'
              : 'A world appears here when it begins.'}
        </Empty>
      )}
      {isAgents ? (
        <AgentList agents={known} openName={name} onOpen={open} />
      ) : (
        <TrajectoryList trajectories={matching.slice(0, limit)} openId={id} onOpen={open} />
      )}
      {!isAgents && matching.length > limit && <ShowMore onMore={() => setLimit(limit + STEP)} />}
    </>
  );
  return (
    <>
      <VisuallyHidden component="h1">Agents</VisuallyHidden>
      <SplitView
        head={head}
        list={list}
        listLabel={isAgents ? 'Agents' : 'Worlds'}
        detailLabel={view === 'people' ? 'People' : isAgents ? 'Agent' : 'World'}
        isOpen={view === 'people' || (isAgents ? agent : id) !== undefined}
        backLabel="Agents"
        onBack={() => open(undefined)}
        detail={
          view === 'people' ? (
            <People />
          ) : isAgents && agent !== undefined ? (
            <AgentDetail key={agent.name} agent={agent} />
          ) : !isAgents && id !== undefined ? (
            <TrajectoryDetail key={id} id={id} all={all} writ={search.get('writ') ?? undefined} />
          ) : (
            <Empty title={isAgents ? 'Choose an agent' : 'Choose a world'}>
              {isAgents
                ? 'It shows what the agent did and spent, and stops it everywhere.'
                : 'It shows who may act there, by which writs and budgets.'}
              <KeyLegend keys={MOVES} />
            </Empty>
          )
        }
      />
    </>
  );
}
