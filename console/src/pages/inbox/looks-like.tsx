import { Badge } from '@mantine/core';
import { isSamePrincipal } from 'assize/internal/kernel/domain/same-principal.ts';
import { useMemo } from 'react';
import type { Card } from '../../api/queries.ts';
import { Inert } from '../../parts/inert-text.tsx';
import { useWaiting } from './approvals-query.ts';

interface LooksLikeProps {
  readonly name: string;
  /** The names of the same kind that another proposal has. */
  readonly namesIn: (card: Card) => readonly string[];
}

/** A mark beside a name, if the name of another waiting proposal looks like it and is another. */
export function LooksLike({ name, namesIn }: LooksLikeProps) {
  const { data } = useWaiting(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the function has the same result
  const other = useMemo(() => {
    const known = new Set((data?.cards ?? []).flatMap(namesIn));
    return [...known].find((one) => one !== name && isSamePrincipal(one, name));
  }, [data, name]);
  if (other === undefined) return null;
  return (
    <Badge component="span" color="red.8" size="sm" tt="none" ml={6}>
      looks like <Inert>{other}</Inert>
    </Badge>
  );
}
