import { Anchor, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { calls } from '../../api/changed-by.ts';
import { api, dataOf } from '../../api/client.ts';
import { MoreOnScroll } from '../../parts/more-on-scroll.tsx';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import { FILTERS, type Filters, useActivity } from '../activity/activity-query.ts';
import { FoundRow } from '../activity/found-row.tsx';
import classes from './approval-list.module.css';

const EVERYTHING = Object.fromEntries(FILTERS.map((name) => [name, ''])) as Filters;

/** The decisions of a person, the newest first, with the phases of the calls. */
export function Decided({ person = '' }: { readonly person: string | undefined }) {
  const found = useActivity({ ...EVERYTHING, decided_by: person });
  const outcomes = useOutcomes();
  const entries = found.data?.pages.flatMap((page) => page.entries) ?? [];
  return (
    <>
      {found.error !== null && <Failed error={found.error} retry={() => void found.refetch()} />}
      {found.isPending && <Loading what="decisions" />}
      {found.data !== undefined && entries.length === 0 && !found.hasNextPage && (
        <Empty title="No decision yet">Each of your decisions is listed here.</Empty>
      )}
      <ul className={classes.rows}>
        {entries.map((entry) => (
          <FoundRow key={entry.id} entry={entry} outcome={outcomes.get(entry.id)} />
        ))}
      </ul>
      {found.hasNextPage && (
        <MoreOnScroll
          isPaused={found.isFetching || found.error !== null}
          onMore={() => void found.fetchNextPage()}
        />
      )}
      <Text size="xs" p="sm">
        Those of others are in the{' '}
        <Anchor component={Link} href="/activity" underline="always">
          activity
        </Anchor>
        .
      </Text>
    </>
  );
}

const NEWEST = '200';

/** The calls of the newest transactions with their phases, by the entry that committed them. */
function useOutcomes(): ReadonlyMap<string, string> {
  const { data } = useQuery({
    queryKey: ['log', 'outcomes'],
    meta: calls,
    queryFn: () =>
      dataOf(api.GET('/v1/effects', { params: { query: { all: 'true', limit: NEWEST } } })),
  });
  return new Map(
    data?.transactions.flatMap(({ entry_id, effects }) =>
      entry_id === undefined
        ? []
        : [[entry_id, effects.map(({ tool, phase }) => `${tool}: ${phase}`).join(', ')] as const],
    ),
  );
}
