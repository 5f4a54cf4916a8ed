import { Anchor, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { RecalledVersion } from 'assize/internal/views/recall-of.ts';
import { Link } from 'wouter';
import { api, dataOf } from '../api/client.ts';
import { memoryHref } from './addresses.ts';
import { Inert } from './inert-text.tsx';
import { periodText } from './times.ts';

interface FactProps {
  readonly trajectory: string;
  readonly space: string;
  readonly version: RecalledVersion;
}

/** A recalled fact as it was then, with the way to it in the memory. */
export function RecalledFact({ trajectory, space, version }: FactProps) {
  const { fact, since, key } = version;
  const found = useQuery({
    queryKey: ['recalled', trajectory, space, fact, since],
    retry: false,
    queryFn: () => {
      const params = { path: { trajectory, space, fact }, query: { ...key, since } };
      return dataOf(
        api.GET('/v1/trajectories/{trajectory}/memory/{space}/facts/{fact}', { params }),
      );
    },
  });
  if (found.error !== null)
    return (
      <Text size="sm" c="dimmed">
        {`The fact ${fact.slice(0, 8)} is not in the memory: `}
        <Inert>{found.error.message}</Inert>
      </Text>
    );
  if (found.data === undefined)
    return (
      <Text size="sm" c="dimmed" role="status">
        Loading a fact…
      </Text>
    );
  const { subject, predicate, object, valid_from, valid_to } = found.data.fact;
  const href = memoryHref(trajectory, space, { subject, predicate, fact, since });
  return (
    <Text size="sm">
      <Inert>{`${subject} ${predicate}: ${object}`}</Inert>
      <Text span size="xs" c="dimmed">
        {` ${periodText(valid_from, valid_to)}, `}
      </Text>
      <Anchor
        component={Link}
        href={href}
        size="sm"
        aria-label={`${predicate} of ${subject} in the memory`}
      >
        in the memory
      </Anchor>
    </Text>
  );
}
