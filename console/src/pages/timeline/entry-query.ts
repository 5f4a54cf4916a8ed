import { useQuery } from '@tanstack/react-query';
import { erasures } from '../../api/changed-by.ts';
import { api, dataOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import type { Payloads } from './payload.ts';

export type EntryDocument = components['schemas']['Entry'];

/** An entry, by its id or as TRAJECTORY@SEQ, with its large values. */
export function useEntry(name: string) {
  return useQuery({
    queryKey: ['log', 'entry', name],
    meta: erasures,
    queryFn: () =>
      dataOf(
        api.GET('/v1/entries/{entry}', {
          params: { path: { entry: name }, query: { values: 'true' } },
        }),
      ),
  });
}

/** The payload of a kind. The server has checked its form. Undefined for a damaged entry. */
export function payloadOf<K extends keyof Payloads>(
  entry: EntryDocument,
  ...kinds: readonly K[]
): Payloads[K] | undefined {
  const { kind, payload, fault } = entry;
  if (fault !== undefined || typeof payload === 'string') return undefined;
  return (kinds as readonly string[]).includes(kind)
    ? (payload as unknown as Payloads[K])
    : undefined;
}

/** A value that a payload holds or names. */
export type Held = { readonly value: unknown } | { readonly missing: string };

/** The value at a place of the payload, wherever it is stored. */
export function valueAt(entry: EntryDocument, pointer: string, stored: unknown): Held {
  const named = entry.values.find((one) => one.pointer === pointer);
  if (named === undefined) return { value: stored };
  if (named.erased_by !== undefined) return { missing: 'The value was erased.' };
  return named.value === null || named.value === undefined
    ? { missing: 'The store does not have the value.' }
    : { value: named.value };
}
