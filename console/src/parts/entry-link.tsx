import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, dataOf } from '../api/client.ts';
import { timelineHref } from './addresses.ts';
import { Inert } from './inert-text.tsx';
import { Ago } from './instant.tsx';

/** An entry by its id. It never changes. Undefined: asks for nothing. */
export function useEntry(id: string | undefined) {
  return useQuery({
    queryKey: ['entry', id],
    enabled: id !== undefined,
    queryFn: () =>
      dataOf(api.GET('/v1/entries/{entry}', { params: { path: { entry: id as string } } })),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The place of an entry. */
export interface EntryPlace {
  readonly trajectoryId: string;
  readonly seq: number;
}

interface EntryLinkProps {
  readonly id: string;
  /** Absent: the server is asked. */
  readonly place?: EntryPlace | undefined;
  /** Shows also when the entry was recorded. */
  readonly withTime?: boolean;
}

/** A link to an entry in the timeline. */
export function EntryLink({ id, place, withTime = false }: EntryLinkProps) {
  const { data } = useEntry(place === undefined || withTime ? id : undefined);
  const known = place ?? (data && { trajectoryId: data.trajectory_id, seq: data.seq });
  if (known === undefined) return <code title={id}>{id.slice(0, 12)}…</code>;
  const { trajectoryId, seq } = known;
  const payload = data?.payload;
  const at = withTime && typeof payload === 'object' ? payload['at'] : undefined;
  return (
    <>
      <Anchor component={Link} href={timelineHref(trajectoryId, seq)} size="sm" underline="always">
        entry <Inert>{`${trajectoryId}@${seq}`}</Inert>
      </Anchor>
      {typeof at === 'string' && (
        <>
          , <Ago at={at} />
        </>
      )}
    </>
  );
}
