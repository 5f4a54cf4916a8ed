import { Alert, Anchor, Button, Group, Stack, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { AGENTS, entriesOf } from '../../api/changed-by.ts';
import { api, dataOf } from '../../api/client.ts';
import { codeOf } from '../../api/problem.ts';
import { timelineHref } from '../../parts/addresses.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { Fact, Facts } from '../../parts/facts.tsx';
import { World } from '../../parts/halted.tsx';
import { Inert, Words } from '../../parts/inert-text.tsx';
import { Ago } from '../../parts/instant.tsx';
import { Part } from '../../parts/part.tsx';
import { ShowMore } from '../../parts/show-more.tsx';
import { StopChip } from '../../parts/stop-chip.tsx';
import { useWaiting } from '../inbox/approvals-query.ts';
import { SumText } from '../inbox/sum-text.tsx';
import { amountsText } from '../timeline/authority.tsx';
import { noneText, refusedText, useWaitingOf, Waiting } from './agent-list.tsx';
import {
  type Agent,
  type AgentChange,
  useChangeAgent,
  useHasToken,
  useIsAdmin,
  useWrits,
} from './agents-query.ts';

interface Grant {
  readonly trajectories: readonly string[];
  readonly actions: readonly string[];
}

/** Worlds at first, and more at each step. The amounts of each are a request. */
const WORLDS_STEP = 10;

/** One agent: whether it may act, what it did last, and what it spent in its worlds. */
export function AgentDetail({ agent }: { readonly agent: Agent }) {
  const { name, grants, is, since, by, reason, last, worlds, refused, incomplete } = agent;
  const [limit, setLimit] = useState(WORLDS_STEP);
  const isAdmin = useIsAdmin();
  const comeback = useComeback(name);
  const ended = is === 'stopped' && ({ td: 'line-through' } as const);
  const isBack = is === 'active' && since !== undefined;
  const { data: hasToken = true } = useHasToken(name, isAdmin && isBack);
  return (
    <Stack gap="lg">
      <header>
        <Group gap="xs" mb="xs">
          <Title order={2} size="h4" className="wraps">
            <Inert>{name}</Inert>
          </Title>
          <StopChip stop={is} />
        </Group>
        {isAdmin && (
          <Group gap="xs" mb="xs">
            {is !== 'stopped' && <ChangeButton agent={name} does="stop" isStopped={false} />}
            {is === 'active' && <ChangeButton agent={name} does="pause" isStopped={false} />}
            {is !== 'active' && comeback === undefined && (
              <ChangeButton agent={name} does="resume" isStopped={is === 'stopped'} />
            )}
          </Group>
        )}
        {is === 'stopped' && comeback !== undefined && (
          <Text size="sm">
            <Anchor component={Link} href={comeback.page} size="sm" underline="always">
              A resume
            </Anchor>{' '}
            waits for another person than <Inert>{comeback.requester}</Inert>.
          </Text>
        )}
        {!hasToken && (
          <Text size="sm">
            It has no token: create one with <Inert>{`assize token create ${name}`}</Inert>
          </Text>
        )}
        {since !== undefined && (
          <Text size="sm">
            {isBack && 'It acts again. '}By <Inert>{by ?? ''}</Inert> <Ago at={since} />:{' '}
            <Inert>{reason ?? ''}</Inert>
          </Text>
        )}
        {is !== 'active' && last !== undefined && <Proof agent={name} last={last} />}
      </header>
      <Facts>
        {last !== undefined && (
          <Fact name="Last action">
            <Anchor
              component={Link}
              href={timelineHref(last.trajectory_id, last.seq)}
              size="sm"
              underline="always"
            >
              <Words>{last.title ?? last.action}</Words>
            </Anchor>
            , {last.ruling}, <Ago at={last.at} />
          </Fact>
        )}
        <Fact name="Waiting">
          <Waiting agent={name} />
        </Fact>
        <Fact name="Refused">
          <Anchor
            component={Link}
            href={`/activity?${new URLSearchParams({ principal: name, ruling: 'rejected', when: '24h' })}`}
            size="sm"
            underline="always"
          >
            {refusedText(refused, incomplete)}
          </Anchor>
        </Fact>
      </Facts>
      <Part title="Worlds">
        {worlds.length === 0 ? (
          <Text size="sm">It has {noneText('entry', incomplete)}.</Text>
        ) : (
          <Table layout="fixed" fz="sm">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>World</Table.Th>
                <Table.Th>Spent</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {worlds.slice(0, limit).map((world) => (
                <WorldRow key={world} world={world} agent={name} />
              ))}
            </Table.Tbody>
          </Table>
        )}
        {worlds.length > limit && <ShowMore onMore={() => setLimit(limit + WORLDS_STEP)} />}
      </Part>
      <Part title="Grants">
        {is === 'stopped' && <Text size="sm">Revoked by the stop:</Text>}
        {(grants as readonly Grant[]).map((grant) => (
          <Text size="sm" key={JSON.stringify(grant)} className="wraps" {...ended}>
            <Inert>{`${grant.actions.join(', ')} in ${grant.trajectories.join(', ')}`}</Inert>
          </Text>
        ))}
        {grants.length === 0 && <Text size="sm">The configuration gives it none.</Text>}
      </Part>
    </Stack>
  );
}

/** The request to let a stopped agent act again. */
function useComeback(agent: string) {
  return useWaiting(false).data?.cards.find(
    ({ trajectory_id, role }) => trajectory_id === AGENTS && role.params['agent'] === agent,
  );
}

/** A world of the agent, with what its writs have spent there. */
function WorldRow({ world, agent }: { readonly world: string; readonly agent: string }) {
  const { data = [] } = useWrits(world);
  const spent: Record<string, number> = {};
  for (const writ of data.filter(({ principal }) => principal === agent))
    for (const [unit, amount] of Object.entries(writ.spent))
      spent[unit] = (spent[unit] ?? 0) + amount;
  return (
    <Table.Tr>
      <Table.Td className="wraps">
        <Anchor component={Link} href={`/agents/${encodeURIComponent(world)}`} size="sm">
          <World id={world} />
        </Anchor>
      </Table.Td>
      <Table.Td>{Object.keys(spent).length === 0 ? 'no budget' : amountsText(spent)}</Table.Td>
    </Table.Tr>
  );
}

interface ProofProps {
  readonly agent: string;
  readonly last: NonNullable<Agent['last']>;
}

/** Asks the server for the ruling on another proposal like the last one. */
function Proof({ agent, last }: ProofProps) {
  const { trajectory_id: trajectory, action } = last;
  const tried = useQuery({
    queryKey: ['log', 'agent-tried', agent, trajectory],
    meta: entriesOf(AGENTS),
    retry: false,
    queryFn: () =>
      dataOf(
        api.POST('/v1/trajectories/{trajectory}/judge', {
          params: { path: { trajectory } },
          body: { principal: agent, action, role: action, args: {} },
        }),
      ),
  });
  if (tried.isPending) return null;
  const isRuled = tried.error === null;
  const isRefused = codeOf(tried.error) === 'agent_stopped';
  return (
    <Alert
      {...(isRuled ? { variant: 'light', color: 'red' } : { variant: 'default' })}
      mt="xs"
      role="status"
      title={
        isRuled
          ? 'Its next proposal may still count'
          : `Its next proposal ${isRefused ? 'would be refused' : 'could not be tried'}`
      }
    >
      <Text size="sm">
        {isRuled || isRefused ? 'Tried now' : 'Not tried'} in <Inert>{trajectory}</Inert>, without a
        record. <Inert>{tried.error?.message ?? 'The server would rule on it.'}</Inert>
      </Text>
    </Alert>
  );
}

interface ChangeProps {
  readonly agent: string;
  readonly does: AgentChange;
  readonly isStopped: boolean;
}

const WORDS = { stop: 'Stop everywhere', pause: 'Pause everywhere', resume: 'Resume' } as const;

function ChangeButton({ agent, does, isStopped }: ChangeProps) {
  const [isAsking, setAsking] = useState(false);
  const change = useChangeAgent(agent, does);
  const { cards, count } = useWaitingOf(agent);
  return (
    <>
      <Button
        size="xs"
        variant={does === 'stop' ? 'light' : 'default'}
        {...(does === 'stop' && { color: 'red' })}
        onClick={() => setAsking(true)}
      >
        {WORDS[does]}…
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={`${WORDS[does]}?`}
          action={WORDS[does]}
          isDangerous={does === 'stop'}
          needsReason
          isPending={change.isPending}
          error={change.error}
          onConfirm={(reason) => change.mutate(reason, { onSuccess: () => setAsking(false) })}
          onClose={() => setAsking(false)}
        >
          <Text size="sm">
            <Inert>{agent}</Inert> {effectOf(does, isStopped)}
          </Text>
          {does === 'stop' && cards.length > 0 && (
            <Text size="sm">
              Proposals of it that wait: {count}
              <SumText cards={cards} />. They can then only be rejected.
            </Text>
          )}
        </ConfirmDialog>
      )}
    </>
  );
}

function effectOf(does: AgentChange, isStopped: boolean): string {
  if (does === 'stop')
    return 'loses every grant, writ, token and delegation, in every world. It comes back only if an admin asks for it and another person approves.';
  if (does === 'pause')
    return 'and those that it passed authority to do nothing more until an admin resumes it. Nothing is revoked.';
  return isStopped
    ? 'comes back when another person approves it in the inbox.'
    : 'acts again from now on.';
}
