import { Anchor } from '@mantine/core';
import { Link } from 'wouter';
import { visible } from '../../../../src/cli/terminal/visible.ts';
import { useEntry } from './entry-query.ts';
import { timelineHref } from './timeline-address.ts';

/** A link to an entry that is known by its id. */
export function EntryLink({ id }: { readonly id: string }) {
  const { data } = useEntry(id);
  if (data === undefined) return <code>{id.slice(0, 12)}…</code>;
  const { trajectory_id: trajectory, seq } = data;
  return (
    <Anchor component={Link} href={timelineHref(trajectory, seq)} size="sm" underline="always">
      entry {seq} of {visible(trajectory)}
    </Anchor>
  );
}
