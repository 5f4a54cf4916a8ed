import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { oneDecision } from '../../api/changed-by.ts';
import { api, dataOf } from '../../api/client.ts';
import { EntryLink } from '../../parts/entry-link.tsx';

/** Where a proposal that asked a person stands now. */
export function Standing({ id }: { readonly id: string }) {
  const { data, error } = useQuery({
    queryKey: ['log', 'approval', id],
    meta: oneDecision,
    queryFn: () => dataOf(api.GET('/v1/approvals/{approval}', { params: { path: { approval: id } } })),
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
  if (entry_id === undefined) return 'void: its trajectory moved on';
  return (
    <>
      decided by <EntryLink id={entry_id} />
    </>
  );
}
