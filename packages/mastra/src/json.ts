import type { Json } from 'assize/internal/base';
import { canonicalize } from 'assize/internal/canon';

/** A value as JSON, or the place in it that is not JSON. */
export type AsJson = { readonly json: Json | undefined } | { readonly at: string };

/** Above the size of every value that the ledger keeps. */
const BYTES_MAX = 64 * 1_048_576;

/**
 * A value as JSON. Members that are undefined are left out.
 *
 * @param dates - whether a date is written as its text; else it is not JSON
 */
export function asJson(
  value: unknown,
  { dates = false }: { readonly dates?: boolean } = {},
): AsJson {
  if (value === undefined) return { json: undefined };
  const found = copied(value, { dates, at: '', above: [] });
  if ('at' in found) return found;
  try {
    // Refuses what a ledger cannot hold, such as half of a character.
    canonicalize(found.json, { bytesMax: BYTES_MAX });
    return found;
  } catch {
    return { at: '/' };
  }
}

interface Place {
  readonly dates: boolean;
  /** The JSON pointer of the value. */
  readonly at: string;
  readonly above: readonly object[];
}

type Copied = { readonly json: Json } | { readonly at: string };

function copied(value: unknown, place: Place): Copied {
  if (value === null || typeof value === 'string' || typeof value === 'boolean')
    return { json: value };
  if (typeof value === 'number' && Number.isFinite(value)) return { json: value };
  if (typeof value !== 'object' || value === null || place.above.includes(value))
    return { at: place.at || '/' };
  if (place.dates && value instanceof Date && !Number.isNaN(value.getTime()))
    return { json: value.toISOString() };
  if (!Array.isArray(value) && !isPlain(value)) return { at: place.at || '/' };
  const above = [...place.above, value];
  const members: [string, Json][] = [];
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined && !Array.isArray(value)) continue;
    const found = copied(member, { ...place, at: `${place.at}/${name}`, above });
    if ('at' in found) return found;
    members.push([name, found.json]);
  }
  return {
    json: Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members),
  };
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
