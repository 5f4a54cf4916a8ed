import { Badge, Button, Group, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { Ago } from '../../parts/instant.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import {
  type Agent,
  type AgentChange,
  useAgents,
  useChangeAgent,
  useIsAdmin,
} from './agents-query.ts';

/** Each agent of the store with its grants, and whether it may act. */
export function AgentList() {
  const found = useAgents();
  if (found.isPending) return <Loading what="agents" />;
  if (found.data === undefined)
    return <Failed error={found.error} retry={() => void found.refetch()} />;
  const { agents } = found.data;
  return (
    <Stack gap="sm">
      <Title order={2} size="h4">
        Agents
      </Title>
      {agents.length === 0 && <Text size="sm">The configuration names no agent.</Text>}
      {agents.map((agent) => (
        <AgentRow key={agent.name} agent={agent} />
      ))}
    </Stack>
  );
}

interface Grant {
  readonly trajectories: readonly string[];
  readonly actions: readonly string[];
}

function AgentRow({ agent: { name, grants, is, since, by, reason } }: { readonly agent: Agent }) {
  const isAdmin = useIsAdmin();
  return (
    <section aria-label={name}>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Group gap="xs">
          <Text fw={600} size="sm">
            <Inert>{name}</Inert>
          </Text>
          {is !== 'active' && (
            <Badge color="red.8" tt="none">
              {is === 'stopped' ? 'Stopped' : 'Paused'}
            </Badge>
          )}
        </Group>
        {isAdmin && (
          <Group gap="xs" wrap="nowrap">
            {is === 'active' && <ChangeButton agent={name} does="pause" isStopped={false} />}
            {is !== 'stopped' && <ChangeButton agent={name} does="stop" isStopped={false} />}
            {is !== 'active' && (
              <ChangeButton agent={name} does="resume" isStopped={is === 'stopped'} />
            )}
          </Group>
        )}
      </Group>
      {(grants as readonly Grant[]).map((grant) => (
        <Text size="sm" c="dimmed" key={JSON.stringify(grant)}>
          <Inert>{`${grant.actions.join(', ')} in ${grant.trajectories.join(', ')}`}</Inert>
        </Text>
      ))}
      {since !== undefined && (
        <Text size="sm">
          By <Inert>{by ?? ''}</Inert> <Ago at={since} />: <Inert>{reason ?? ''}</Inert>
        </Text>
      )}
    </section>
  );
}

interface ChangeProps {
  readonly agent: string;
  readonly does: AgentChange;
  readonly isStopped: boolean;
}

const WORDS = { stop: 'Stop', pause: 'Pause', resume: 'Resume' } as const;

function ChangeButton({ agent, does, isStopped }: ChangeProps) {
  const [isAsking, setAsking] = useState(false);
  const change = useChangeAgent(agent, does);
  return (
    <>
      <Button
        size="compact-xs"
        variant={does === 'stop' ? 'light' : 'default'}
        {...(does === 'stop' && { color: 'red' })}
        aria-label={`${WORDS[does]} ${agent}`}
        onClick={() => setAsking(true)}
      >
        {WORDS[does]}…
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={`${WORDS[does]} this agent?`}
          action={`${WORDS[does]} the agent`}
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
        </ConfirmDialog>
      )}
    </>
  );
}

function effectOf(does: AgentChange, isStopped: boolean): string {
  if (does === 'stop')
    return 'loses every grant, writ, token and delegation, in every trajectory. It comes back only if an admin asks for it and another person approves.';
  if (does === 'pause')
    return 'and those that it passed authority to do nothing more until an admin resumes it. Nothing is revoked.';
  return isStopped
    ? 'comes back when another person approves it in the inbox.'
    : 'acts again from now on.';
}
