import { Anchor, Button, CopyButton, Group, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, dataOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { timelineHref } from '../../parts/addresses.ts';
import { Inert } from '../../parts/inert-text.tsx';
import { Failed, Loading } from '../../parts/states.tsx';

type MinedCandidate = components['schemas']['MinedCandidate'];
type CounterExample = components['schemas']['CounterExample'];

interface RuleProps {
  readonly trajectory: string;
  readonly candidate: MinedCandidate;
}

/** One mined rule with its support, the calls that break it, its backtest and its text. */
export function MinedRule({ trajectory, candidate }: RuleProps) {
  const [isTried, setIsTried] = useState(false);
  const {
    id,
    kind,
    statement,
    support,
    p,
    counter_example_count: count,
    counter_examples,
    written,
    not_written,
  } = candidate;
  return (
    <article aria-label={statement}>
      <Title order={3} size="h6">
        <Inert>{statement}</Inert>
      </Title>
      <Text size="sm" c="dimmed">
        {support.calls.toLocaleString('en')} calls in {support.runs.toLocaleString('en')} runs;{' '}
        {count === 0
          ? 'none breaks it'
          : `${count.toLocaleString('en')} of them ${count === 1 ? 'breaks' : 'break'} it`}
        {kind === 'allow' ? '' : `; by chance with a probability of ${chance(p)}`}.
      </Text>
      {count > 0 && <Exceptions examples={counter_examples} count={count} />}
      {written === undefined ? (
        <Text size="sm" c="dimmed" className="wraps">
          <Inert>{not_written ?? ''}</Inert>
        </Text>
      ) : (
        <Group gap="xs" mt={4}>
          <Button
            size="compact-xs"
            variant="default"
            disabled={isTried}
            onClick={() => setIsTried(true)}
          >
            Backtest
          </Button>
          <CopyButton value={written.text}>
            {({ copied, copy }) => (
              <Button size="compact-xs" variant="default" onClick={copy}>
                {copied ? 'Copied' : 'Copy as rule'}
              </Button>
            )}
          </CopyButton>
        </Group>
      )}
      {isTried && <Tried trajectory={trajectory} id={id} />}
    </article>
  );
}

function Exceptions({
  examples,
  count,
}: {
  readonly examples: readonly CounterExample[];
  readonly count: number;
}) {
  return (
    <Text size="sm">
      Broken at{' '}
      {examples.map(({ run, call, entry }, n) => (
        <span key={`${run} ${call}`}>
          {n > 0 && ', '}
          {entry === undefined ? <Inert>{run}</Inert> : <EntryLink {...entry} />}
        </span>
      ))}
      {count > examples.length && ` and ${(count - examples.length).toLocaleString('en')} more`}.
    </Text>
  );
}

function EntryLink({
  trajectory_id,
  seq,
}: {
  readonly trajectory_id: string;
  readonly seq: number;
}) {
  return (
    <Anchor component={Link} href={timelineHref(trajectory_id, seq)} size="sm" underline="always">
      Entry {seq}
    </Anchor>
  );
}

/** The recorded calls that the rule would rule on otherwise. */
function Tried({ trajectory, id }: { readonly trajectory: string; readonly id: string }) {
  const tried = useQuery({
    queryKey: ['mining', trajectory, id],
    queryFn: ({ signal }) =>
      dataOf(
        api.POST('/v1/mining', { body: { trajectories: [trajectory], backtest: [id] }, signal }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnReconnect: false,
  });
  if (tried.isPending) return <Loading what="the backtest" />;
  if (tried.data === undefined)
    return <Failed error={tried.error} retry={() => void tried.refetch()} />;
  const report = tried.data.candidates.find((each) => each.id === id)?.written?.backtest;
  if (report === undefined)
    return (
      <Text size="sm">
        The runs have changed, or the world has no rules file. Find the rules again.
      </Text>
    );
  const { difference_count: count, judged, changes, differences } = report;
  return (
    <Text size="sm" role="status" mt={4}>
      {count === 0
        ? `In force, the rule would change none of ${judged.toLocaleString('en')} rulings.`
        : `In force, the rule would change ${count.toLocaleString('en')} of ${judged.toLocaleString('en')} rulings (${changed(changes)}): `}
      {differences.map(({ entry_id, ...place }, n) => (
        <span key={entry_id}>
          {n > 0 && ', '}
          <EntryLink {...place} />
        </span>
      ))}
    </Text>
  );
}

function changed(changes: Readonly<Record<string, number>>): string {
  return Object.entries(changes)
    .map(([kind, n]) => `${n} ${kind.replace('_to_', ' → ')}`)
    .join(', ');
}

function chance(p: number): string {
  return p >= 0.001 ? p.toFixed(3) : p.toExponential(0);
}
