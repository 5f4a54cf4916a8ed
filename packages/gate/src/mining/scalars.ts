import type { Json } from 'assize/internal/base';
import { parsePointer, toPointer } from 'assize/internal/canon';
import type { Scalar } from './rule.ts';

/** A place of arguments: a scalar, or the length of a list. */
export interface Place {
  readonly path: string;
  readonly of: 'value' | 'length';
  readonly value: Scalar;
}

const DEPTH_MAX = 4;
const PLACES_MAX = 200;

/**
 * The scalars in objects at most four levels deep, and the lengths of lists. The items of a list
 * have no fixed place, so they are left out, and so is everything beyond 200 places.
 */
export function placesOf(args: Json): readonly Place[] {
  const places: Place[] = [];
  collect(args, [], places);
  return places.slice(0, PLACES_MAX);
}

function collect(value: Json, path: readonly string[], places: Place[]): void {
  if (places.length >= PLACES_MAX) return;
  if (Array.isArray(value))
    places.push({ path: toPointer(path), of: 'length', value: value.length });
  else if (typeof value !== 'object' || value === null)
    places.push({ path: toPointer(path), of: 'value', value: value as Scalar });
  else if (path.length < DEPTH_MAX)
    for (const [key, member] of Object.entries(value))
      collect(member as Json, [...path, key], places);
}

/** A value of arguments, or the reason why there is none. */
export type Found = { readonly value: Json } | { readonly lacks: 'absent' | 'misshapen' };

/**
 * The value at a pointer through own members, as conditions of rules find it: a container of
 * another shape on the path is not an absence.
 */
export function find(args: Json, path: string): Found {
  let value: Json = args;
  for (const key of parsePointer(path)) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return { lacks: 'misshapen' };
    if (!Object.hasOwn(value, key)) return { lacks: 'absent' };
    value = (value as { readonly [member: string]: Json })[key] as Json;
  }
  return { value };
}

/** The scalar at a pointer. Undefined if there is none, or a list or an object. */
export function scalarAt(args: Json, path: string): Scalar | undefined {
  const found = find(args, path);
  if (!('value' in found) || (typeof found.value === 'object' && found.value !== null))
    return undefined;
  return found.value as Scalar;
}
