import { Anchor } from '@mantine/core';
import { Link } from 'wouter';
import { Inert } from '../../parts/inert-text.tsx';

interface Entry {
  readonly trajectoryId: string;
  readonly seq: number;
}

/** A link to an entry in the timeline. An entry without a place is only named. */
export function EntryLink({ entry, id }: { readonly entry: Entry | undefined; readonly id: string }) {
  if (entry === undefined) return <code title={id}>{id.slice(0, 12)}…</code>;
  const { trajectoryId, seq } = entry;
  return (
    <Anchor component={Link} href={`/timeline/${encodeURIComponent(trajectoryId)}/${seq}`} fz="sm" underline="always">
      entry <Inert>{`${trajectoryId}@${seq}`}</Inert>
    </Anchor>
  );
}
