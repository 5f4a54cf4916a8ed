import type { Json } from 'assize/internal/base';
import { copyJson } from 'assize/internal/canon';
import { isWithin } from './is-within.ts';

/** A value with a longer text is shown by its members. */
const WHOLE = 65_536;
/** A member with a longer text is shown by the number of its members. */
const SHORT = 512;

/** A member of a value: its own value if that is short, or how many members it has. */
export interface Member {
  readonly key: string;
  readonly value?: Json;
  readonly count?: number;
}

/** A value, whole if it is not large, or else a page of its members. */
export interface Outline {
  readonly value?: Json;
  /** How many members match. */
  readonly count?: number;
  readonly members?: readonly Member[];
  readonly next?: string;
}

export interface OutlineQuery {
  /** The key before the first member. */
  readonly after?: string | undefined;
  /** A part of the keys, in any case. */
  readonly text?: string | undefined;
  readonly limit: number;
}

/** The outline of a value, in its own objects. The work grows with its members, not its size. */
export function outlineOf(value: Json, { after, text, limit }: OutlineQuery): Outline {
  if (typeof value !== 'object' || value === null || isWithin(value, WHOLE))
    return { value: copyJson(value) };
  const wanted = text?.toLowerCase() ?? '';
  const { count, keys } = pageOf(value, { after, limit: limit + 1 }, (key) =>
    wanted === '' ? true : key.toLowerCase().includes(wanted),
  );
  const shown = keys.slice(0, limit);
  const hasMore = keys.length > limit;
  return {
    count,
    members: shown.map((key) =>
      memberOf(key, (value as Readonly<Record<string, Json>>)[key] as Json),
    ),
    ...(hasMore && { next: shown.at(-1) as string }),
  };
}

/**
 * The first keys after one, in order, and how many match. Sorting all keys of a large value would
 * take several times as long as looking at each once.
 */
function pageOf(
  value: object,
  { after, limit }: Pick<OutlineQuery, 'after' | 'limit'>,
  matches: (key: string) => boolean,
): { readonly count: number; readonly keys: readonly string[] } {
  const isList = Array.isArray(value);
  const keys: string[] = [];
  let count = 0;
  for (const key of Object.keys(value)) {
    if (!matches(key)) continue;
    count += 1;
    if (after !== undefined && (isList ? Number(key) <= Number(after) : key <= after)) continue;
    // Most keys of a state are in order, so a later one is rarely among the first.
    if (keys.length === limit && (isList || key >= keys[limit - 1]!)) continue;
    if (keys.length === limit) keys.pop();
    const place =
      isList || keys.length === 0 || key > keys.at(-1)!
        ? keys.length
        : keys.findIndex((one) => one > key);
    keys.splice(place, 0, key);
  }
  return { count, keys };
}

function memberOf(key: string, value: Json): Member {
  if (isWithin(value, SHORT)) return { key, value: copyJson(value) };
  return { key, count: typeof value === 'string' ? 0 : Object.keys(value as object).length };
}
