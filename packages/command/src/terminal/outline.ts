import type { Json } from 'assize/internal/base';
import { escapeSegment } from 'assize/internal/canon';
import { counted } from 'assize/internal/views';
import { shortJson } from './short-json.ts';

/** Maximum number of JSON characters printed to a terminal without a request: a few screens. */
const READABLE_MAX = 8_000;
/** Maximum number of fields in an outline. */
const LISTED_MAX = 40;

/** One part of a large value. */
export interface OutlinedPart {
  readonly pointer: string;
  readonly what: string;
}

/** The content of a value, one level deep. */
export interface Outline {
  readonly parts: readonly OutlinedPart[];
  /** Number of parts that are not listed. */
  readonly more: number;
}

/** Whether a value is too long for a terminal. The cost for a long value is that of a short one. */
export function isLong(value: Json): boolean {
  return roomAfter(value, READABLE_MAX) < 0;
}

/** The parts of a value with their sizes. `pointer` is the value's own location. */
export function outlineOf(value: Json, pointer: string): Outline {
  if (typeof value !== 'object' || value === null)
    return { parts: [{ pointer: pointer || '(all)', what: whatIs(value) }], more: 0 };
  const all = Object.entries(value as { readonly [key: string]: Json });
  const parts = all.slice(0, LISTED_MAX).map(([key, member]) => ({
    pointer: `${pointer}/${escapeSegment(key)}`,
    what: whatIs(member),
  }));
  return { parts, more: all.length - parts.length };
}

function whatIs(value: Json): string {
  if (Array.isArray(value)) return `a list of ${value.length.toLocaleString('en')}`;
  if (typeof value !== 'object' || value === null) return shortJson(value);
  return counted(Object.keys(value).length, 'field');
}

/**
 * The approximate remaining room after writing the value. Stops with a negative number if the value
 * does not fit.
 */
function roomAfter(value: Json, room: number): number {
  if (typeof value === 'string') return room - value.length;
  if (typeof value !== 'object' || value === null) return room - 8;
  let left = room;
  for (const [key, member] of Object.entries(value as { readonly [key: string]: Json })) {
    left = roomAfter(member, left - key.length - 8);
    if (left < 0) break;
  }
  return left;
}
