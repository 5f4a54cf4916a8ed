import { types } from 'node:util';
import { defineOwn, isComputed } from '#base';

/**
 * Maximum depth at which members are looked at. The check that follows refuses deeper values.
 */
const DEPTH_MAX = 256;

/**
 * The value without members that `JSON.stringify` leaves out: undefined ones and those that are not
 * enumerable, such as `~standard` in a schema of `z.toJSONSchema`. All other values stay as they
 * are, for the check that follows. Returns the value itself if it has no such member. Calls no
 * accessor.
 */
export function presentMembers(value: unknown): unknown {
  return present(value, DEPTH_MAX, new Map());
}

/** `seen`: the result for each object, or the object itself while its members are read. */
function present(value: unknown, depthLeft: number, seen: Map<object, unknown>): unknown {
  if (typeof value !== 'object' || value === null || depthLeft === 0 || types.isProxy(value))
    return value;
  if (seen.has(value)) return seen.get(value);
  seen.set(value, value);
  const inner = (member: unknown): unknown => present(member, depthLeft - 1, seen);
  const result = Array.isArray(value) ? presentItems(value, inner) : presentIn(value, inner);
  seen.set(value, result);
  return result;
}

function presentItems(
  list: readonly unknown[],
  inner: (member: unknown) => unknown,
): readonly unknown[] {
  if (Object.keys(list).length !== list.length) return list;
  const items: unknown[] = [];
  for (let i = 0; i < list.length; i++) {
    if (isComputed(list, i)) return list;
    items.push(inner(list[i]));
  }
  return items.every((item, i) => Object.is(item, list[i])) ? list : items;
}

function presentIn(object: object, inner: (member: unknown) => unknown): object {
  const proto: unknown = Object.getPrototypeOf(object);
  if (
    (proto !== Object.prototype && proto !== null) ||
    Object.getOwnPropertySymbols(object).length > 0
  )
    return object;
  const made: Record<string, unknown> = {};
  let isSame = true;
  for (const name of Object.getOwnPropertyNames(object)) {
    const member = Object.getOwnPropertyDescriptor(object, name) as PropertyDescriptor;
    if (!('value' in member)) return object;
    const isAbsent = member.enumerable !== true || member.value === undefined;
    const kept = isAbsent ? undefined : inner(member.value);
    if (!isAbsent) defineOwn(made, name, kept);
    // `NaN` counts as the same member as itself.
    isSame &&= !isAbsent && Object.is(kept, member.value);
  }
  return isSame ? object : made;
}
