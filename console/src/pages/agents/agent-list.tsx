import { Group, Text, UnstyledButton } from '@mantine/core';
import { counted } from '../../parts/counted.ts';
import { CutText } from '../../parts/cut-text.tsx';
import { Inert, Words } from '../../parts/inert-text.tsx';
import { Ago } from '../../parts/instant.tsx';
import classes from '../../parts/rows.module.css';
import { StopChip } from '../../parts/stop-chip.tsx';
import { useAllWaiting } from '../inbox/approvals-query.ts';
import type { Agent } from './agents-query.ts';

interface ListProps {
  readonly agents: readonly Agent[];
  readonly openName: string | undefined;
  readonly onOpen: (name: string) => void;
}

/** Each agent in one row: its worlds, its last action, what waits, and its refusals. */
export function AgentList({ agents, openName, onOpen }: ListProps) {
  return (
    <ul className={classes.rows}>
      {agents.map((agent) => {
        const { name, worlds, refused, last, incomplete } = agent;
        return (
          <li key={name}>
            <UnstyledButton
              className={classes.row}
              data-open={name === openName || undefined}
              aria-current={name === openName ? 'true' : undefined}
              onClick={() => onOpen(name)}
            >
              <Group justify="space-between" gap="xs" wrap="nowrap">
                <CutText fw={600} size="sm">
                  <Inert>{name}</Inert>
                </CutText>
                <StopChip stop={agent.is} />
                <Text size="xs" c="dimmed" className={classes.aside}>
                  {last === undefined ? noneText('action', incomplete) : <Ago at={last.at} />}
                </Text>
              </Group>
              <CutText size="xs">
                <Words>{last?.title ?? last?.action ?? ''}</Words>
              </CutText>
              <CutText size="xs" c="dimmed">
                {counted(worlds.length, 'world')} · <Waiting agent={name} /> waiting ·{' '}
                {refusedText(refused, incomplete)}
              </CutText>
            </UnstyledButton>
          </li>
        );
      })}
    </ul>
  );
}

/** The proposals of an agent that wait for a person, of the first 2,000 of all. */
export function useWaitingOf(agent: string) {
  const { data } = useAllWaiting(false);
  const cards = data?.cards.filter(({ requester }) => requester === agent) ?? [];
  return { cards, count: `${cards.length}${data?.next !== undefined ? '+' : ''}` };
}

/** The number of proposals of an agent that wait for a person. */
export function Waiting({ agent }: { readonly agent: string }) {
  return useWaitingOf(agent).count;
}

const REFUSED_MAX = 100;

export function refusedText(refused: number, isIncomplete: boolean): string {
  const more = refused === REFUSED_MAX || isIncomplete ? ' or more' : '';
  return `${refused}${more} refused in 24 hours`;
}

/** Names what is missing. An incomplete search has read the newest entries only. */
export function noneText(what: string, isIncomplete: boolean): string {
  return isIncomplete ? `no ${what} among the newest entries` : `no ${what} yet`;
}
