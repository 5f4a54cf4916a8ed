import { Button, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOf } from '../../api/client.ts';
import { Failed, Loading } from '../../parts/states.tsx';
import { MinedRule } from './mined-rule.tsx';

/** The rules that the runs of a trajectory obey, on request. Nothing is put in force. */
export function MinedRules({ trajectory }: { readonly trajectory: string }) {
  const [isAsked, setIsAsked] = useState(false);
  return (
    <section aria-label="Rules that your runs obey">
      <Title order={2} size="h4" mt="xl">
        Rules that your runs obey
      </Title>
      {isAsked ? (
        <Found trajectory={trajectory} />
      ) : (
        <Stack gap="xs" align="flex-start">
          <Text size="sm" c="dimmed">
            Limits, orders of calls and approvals that the recorded runs show, with their
            exceptions. Nothing is written.
          </Text>
          <Button size="xs" variant="default" onClick={() => setIsAsked(true)}>
            Find rules
          </Button>
        </Stack>
      )}
    </section>
  );
}

function Found({ trajectory }: { readonly trajectory: string }) {
  const found = useQuery({
    queryKey: ['mining', trajectory],
    queryFn: ({ signal }) =>
      dataOf(api.POST('/v1/mining', { body: { trajectories: [trajectory] }, signal })),
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnReconnect: false,
  });
  if (found.isPending) return <Loading what="the rules" />;
  if (found.data === undefined)
    return <Failed error={found.error} retry={() => void found.refetch()} />;
  const { runs, calls, erased, candidates, none } = found.data;
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed" role="status">
        {candidates.length === 0
          ? 'No rule'
          : candidates.length === 1
            ? '1 rule'
            : `${candidates.length} rules`}{' '}
        in {runs.toLocaleString('en')} {runs === 1 ? 'run' : 'runs'} with{' '}
        {calls.toLocaleString('en')} committed {calls === 1 ? 'call' : 'calls'}.
        {none !== undefined && ` ${none}`}
        {erased > 0 && ` ${erased.toLocaleString('en')} with erased arguments are left out.`}
      </Text>
      {candidates.map((candidate) => (
        <MinedRule key={candidate.id} trajectory={trajectory} candidate={candidate} />
      ))}
    </Stack>
  );
}
