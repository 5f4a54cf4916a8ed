import { Alert, Button, Group, List, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Card } from '../../api/queries.ts';
import classes from '../../parts/field.module.css';
import { Inert } from '../../parts/inert-text.tsx';
import { tell } from '../../parts/tell.tsx';
import { AllowMore } from '../standing/allow-more.tsx';
import { type ManyResults, useDecideMany } from './approvals-query.ts';
import { stopText } from './decision-card.tsx';
import { DecisionError } from './decision-error.tsx';
import { PreviewMany } from './preview-many.tsx';
import { SumText } from './sum-text.tsx';

interface DecideManyProps {
  readonly cards: readonly Card[];
  /** Kept by the page, as a search can hide all marked proposals for a while. */
  readonly reason: string;
  readonly onReason: (reason: string) => void;
  /** All are decided. */
  readonly onDecided: (results: ManyResults) => void;
  readonly onClear: () => void;
}

/** The most proposals of one request. */
const ITEMS_MAX = 200;

/** One decision with one reason about all marked proposals. Each is decided alone. */
export default function DecideMany({
  cards,
  reason,
  onReason,
  onDecided,
  onClear,
}: DecideManyProps) {
  const [isCompared, setCompared] = useState(false);
  const decide = useDecideMany();
  const items = cards.slice(0, ITEMS_MAX);
  const failed = decide.data?.results.filter(({ problem }) => problem !== undefined) ?? [];
  const send = async (decision: 'approve' | 'reject') => {
    const { results } = await decide.mutateAsync({ decision, reason, items });
    const done = results.filter(({ problem }) => problem === undefined).length;
    tell(`${done} ${decision === 'approve' ? 'approved' : 'rejected'}`);
    if (done === results.length) onDecided(results);
  };
  const isBlocked = reason.trim() === '' || decide.isPending;
  const stopped = items.map(stopText).find(Boolean);
  return (
    <Stack gap="xs" mt="sm">
      <Text size="sm" fw={600}>
        {items.length} marked{cards.length > items.length ? ` of ${cards.length}` : ''}
        <SumText cards={items} />
      </Text>
      <TextInput
        size="xs"
        classNames={{ root: classes.field }}
        label="Reason for all"
        description="It is needed, and stays in the ledger."
        value={reason}
        onChange={(event) => onReason(event.currentTarget.value)}
      />
      <Group gap="xs">
        <Button
          size="xs"
          disabled={isBlocked || stopped !== undefined}
          title={stopped}
          onClick={() => void send('approve').catch(() => undefined)}
        >
          Approve {items.length}
        </Button>
        <Button
          size="xs"
          color="red"
          variant="light"
          disabled={isBlocked}
          onClick={() => void send('reject').catch(() => undefined)}
        >
          Reject {items.length}
        </Button>
        <Button size="xs" variant="default" onClick={() => setCompared(true)}>
          Compare…
        </Button>
        <Button size="xs" variant="subtle" onClick={onClear}>
          Clear
        </Button>
      </Group>
      {isCompared && <PreviewMany cards={items} onClose={() => setCompared(false)} />}
      <AllowMore cards={items} />
      <DecisionError error={decide.error} forget={decide.reset} />
      {failed.length > 0 && (
        <Alert color="red" title={`${failed.length} not decided`}>
          <List size="xs">
            {failed.map(({ id, problem }) => (
              <List.Item key={id}>
                <Inert>{String(problem?.['detail'])}</Inert>
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
    </Stack>
  );
}
