import type { Json } from '#base';
import { canonicalize } from '#canon';

/** A value as JSON, or the place in it that is not JSON. */
export type AsJson = { readonly json: Json | undefined } | { readonly at: string };

/** Above the size of every value that the ledger keeps. */
const BYTES_MAX = 64 * 1_048_576;

/**
 * A value as JSON. Members that are undefined are left out.
 *
 * @param dates - whether a date is written as its text; else it is not JSON
 */
export function asJson(value: unknown, { dates = false }: { readonly dates?: boolean } = {}): AsJson {
  try {
    const json = copied(value, { dates, at: '', above: [] });
    // Refuses what a ledger cannot hold, such as half of a character.
    if (json !== undefined) canonicalize(json, { bytesMax: BYTES_MAX });
    return { json };
  } catch (error) {
    return { at: error instanceof NotJson ? error.at : '/' };
  }
}

interface Place {
  readonly dates: boolean;
  /** The JSON pointer of the value. */
  readonly at: string;
  readonly above: readonly object[];
}

/** The place of a value that is not JSON. */
class NotJson extends Error {
  readonly at: string;

  constructor(at: string) {
    super(`not JSON at ${at}`);
    this.at = at;
  }
}

function copied(value: unknown, place: Place): Json | undefined {
  if (value === undefined && place.above.length === 0) return undefined;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value !== 'object' || value === null || place.above.includes(value)) throw new NotJson(place.at || '/');
  if (place.dates && value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  const of = (name: string | number, member: unknown): Json =>
    copied(member, { ...place, at: `${place.at}/${name}`, above: [...place.above, value] }) as Json;
  if (Array.isArray(value)) return value.map((member, at) => of(at, member));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw new NotJson(place.at || '/');
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, of(name, member)]));
}
