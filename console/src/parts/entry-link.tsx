import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, dataOf } from '../api/client.ts';
import { Inert } from './inert-text.tsx';
import { Ago } from './instant.tsx';

/** An entry by its id, which never changes. Undefined: asks for nothing. */
export function useEntry(id: string | undefined) {
  return useQuery({
    queryKey: ['entry', id],
    enabled: id !== undefined,
    queryFn: () => dataOf(api.GET('/v1/entries/{entry}', { params: { path: { entry: id as string } } })),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** An entry by its id: its place in the timeline, and when it was recorded. */
export function EntryLink({ id }: { readonly id: string }) {
  const found = useEntry(id);
  if (found.data === undefined) return <code>{id.slice(0, 12)}…</code>;
  const { trajectory_id, seq, payload } = found.data;
  const at = typeof payload === 'string' ? undefined : payload['at'];
  return (
    <>
      <EntryPlace trajectory={trajectory_id} seq={seq} />
      {typeof at === 'string' && (
        <>
          , <Ago at={at} />
        </>
      )}
    </>
  );
}

/** A link to an entry whose place is known. */
export function EntryPlace({ trajectory, seq }: { readonly trajectory: string; readonly seq: number }) {
  return (
    <Anchor component={Link} href={`/timeline/${encodeURIComponent(trajectory)}/${seq}`} size="sm" underline="always">
      <Inert>{`${trajectory}@${seq}`}</Inert>
    </Anchor>
  );
}
