import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { oneDecision } from '../../api/changed-by.ts';
import { api, dataOf } from '../../api/client.ts';
import { EntryLink, useEntry } from '../../parts/entry-link.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { payloadOf } from './entry-query.ts';

/** Where a proposal that asked a person stands now. */
export function Standing({ id }: { readonly id: string }) {
  const { data, error } = useQuery({
    queryKey: ['log', 'approval', id],
    meta: oneDecision,
    queryFn: () =>
      dataOf(api.GET('/v1/approvals/{approval}', { params: { path: { approval: id } } })),
  });
  if (error !== null) return 'not known';
  if (data === undefined) return '…';
  if (data.approval !== undefined)
    return (
      <>
        waits for a decision in the{' '}
        <Anchor component={Link} href={`/inbox/${id}?show=all`} size="sm" underline="always">
          inbox
        </Anchor>
      </>
    );
  const { entry_id } = (data.ruling ?? {}) as { readonly entry_id?: string };
  return entry_id === undefined ? 'void: its world moved on' : <Decided by={entry_id} />;
}

/** The decision: its ruling, the person, and the entry. */
function Decided({ by }: { readonly by: string }) {
  const { data } = useEntry(by);
  const payload = data && payloadOf(data, 'commit', 'rejection', 'pending_approval');
  const person =
    payload === undefined
      ? undefined
      : payload.kind === 'pending_approval'
        ? payload.approved_by?.at(-1)?.principal
        : payload.counselor?.principal;
  return (
    <>
      {payload?.kind === 'rejection'
        ? 'rejected'
        : payload?.kind === 'commit'
          ? 'approved'
          : 'decided'}
      {person !== undefined && (
        <>
          {' '}
          by <Inert>{person}</Inert>
        </>
      )}
      {': '}
      <EntryLink id={by} />
    </>
  );
}
