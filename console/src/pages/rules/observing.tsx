import { Text } from '@mantine/core';
import { Link } from 'wouter';
import { Inert } from '../../parts/inert-text.tsx';
import { observingText } from './observing-text.ts';
import { useRulesInForce } from './rules-query.ts';

/** Above every page: the worlds whose rules only observe or are tried, and until when. */
export function Observing() {
  const { data = [] } = useRulesInForce();
  return data.flatMap((world) => {
    const said = observingText(world);
    if (said === undefined) return [];
    const { trajectory_id: id } = world;
    return [
      <Text key={id} role="note" size="sm" px="md" py={4} bg="var(--mantine-color-yellow-light)">
        <Link href="/rules">
          <Inert>{id}</Inert>
        </Link>
        : <Inert>{said}</Inert>
      </Text>,
    ];
  });
}
