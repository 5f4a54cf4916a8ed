import { List, Text } from '@mantine/core';
import { EntryLink } from '../../parts/entry-link.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { At } from '../../parts/instant.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { useDependents } from './memory-queries.ts';

const HOW = {
  belief: 'its facts derive from it',
  recall: 'its proposal observed it in a recall',
} as const;

/** Every commit that derives from the entry of a version, over any number of steps. */
export function Dependents({ entry }: { readonly entry: string }) {
  const found = useDependents(entry);
  if (found.isPending) return <Loading what="what derives from it" />;
  if (found.data === undefined)
    return <Failed error={found.error} retry={() => void found.refetch()} />;
  if (found.data.length === 0) return <Text size="sm">No commit derives from its entry.</Text>;
  return (
    <List size="sm" spacing={2}>
      {found.data.map(({ id, trajectoryId, seq, action, at, how }) => (
        <List.Item key={id}>
          <EntryLink id={id} place={{ trajectoryId, seq }} />: <Inert>{action}</Inert>,{' '}
          <At at={at} />; {how.map((each) => HOW[each]).join(', and ')}
        </List.Item>
      ))}
    </List>
  );
}
