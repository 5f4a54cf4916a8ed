import { Text } from '@mantine/core';
import { JsonText } from '../../parts/json-text.tsx';
import type { Held } from './entry-query.ts';

/** A value of an entry, or the reason why there is none. */
export function HeldValue({ held, label }: { readonly held: Held; readonly label: string }) {
  if ('missing' in held) return <Text size="sm">{held.missing}</Text>;
  return <JsonText value={held.value ?? null} label={label} />;
}
