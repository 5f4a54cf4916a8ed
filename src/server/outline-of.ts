import type { Json } from '#base';
import { copyJson } from '#canon';
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
  if (typeof value !== 'object' || value === null || isWithin(value, WHOLE)) return { value: copyJson(value) };
  const all = Array.isArray(value) ? value.map((_, n) => String(n)) : Object.keys(value).sort();
  const wanted = text?.toLowerCase() ?? '';
  const keys = wanted === '' ? all : all.filter((key) => key.toLowerCase().includes(wanted));
  const start = after === undefined ? 0 : placeAfter(keys, after, Array.isArray(value));
  const shown = keys.slice(start, start + limit);
  const hasMore = start + limit < keys.length;
  return {
    count: keys.length,
    members: shown.map((key) => memberOf(key, (value as Readonly<Record<string, Json>>)[key] as Json)),
    ...(hasMore && { next: shown.at(-1) as string }),
  };
}

function placeAfter(keys: readonly string[], after: string, isList: boolean): number {
  const found = keys.findIndex((key) => (isList ? Number(key) > Number(after) : key > after));
  return found === -1 ? keys.length : found;
}

function memberOf(key: string, value: Json): Member {
  if (isWithin(value, SHORT)) return { key, value: copyJson(value) };
  return { key, count: typeof value === 'string' ? 0 : Object.keys(value as object).length };
}
