import { isWithin } from '@assize/server/internal/operations/reads/is-within.ts';
import { Text } from '@mantine/core';
import { JsonText } from '../../parts/json-text.tsx';
import type { Held } from './entry-query.ts';

/** A longer text takes too long to draw. */
const TEXT_MAX = 200_000;

/** A value of an entry, or the reason why it is not shown. */
export function HeldValue({ held, label }: { readonly held: Held; readonly label: string }) {
  if ('missing' in held) return <Text size="sm">{held.missing}</Text>;
  const { value = null } = held;
  if (isWithin(value, TEXT_MAX)) return <JsonText value={value} label={label} />;
  const count = typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
  return (
    <Text size="sm">
      The value is too large to show here
      {count > 0 && ` (${count === 1 ? '1 member' : `${count.toLocaleString('en')} members`})`}. The
      state shows each member, and the API answers it whole.
    </Text>
  );
}
