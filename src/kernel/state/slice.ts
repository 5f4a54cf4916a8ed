import type { Json } from '#base';
import { copyJson, WORLD_LIMITS } from '#canon';
import { type Scope, scopeAt } from '../domain/footprint.ts';
import { type Container, hasMember } from './view.ts';

/**
 * The part of a state under a footprint, as a copy with the keys in order. A footprint without `*` costs what it names
 * and not what the world holds. What of a list is outside leaves its place, as null, before those that are not: how long a
 * list is is seen only with all its places. A list that may only be appended to is no part of what is seen.
 */
export function sliceOf(state: Container, scope: Scope): Json {
  return part(state, scope) ?? {};
}

function part(value: unknown, scope: Scope): Json | undefined {
  if (typeof value !== 'object' || value === null) return scope.all ? (value as Json) : undefined;
  if (scope.all) return copyJson(value, WORLD_LIMITS);
  if (scope.keys.size === 0 && scope.any === undefined) return undefined;
  return Array.isArray(value) ? elements(value, scope) : members(value, scope);
}

function elements(list: readonly unknown[], scope: Scope): Json {
  const seen = scope.any === undefined ? list.slice(0, lastNamed(list, scope) + 1) : list;
  return seen.map((item, i) => partAt(item, scope, String(i)) ?? null);
}

/** The last place of a list that a footprint names, or -1. */
function lastNamed(list: readonly unknown[], { keys }: Scope): number {
  let last = -1;
  for (const key of keys.keys()) if (hasMember(list, key)) last = Math.max(last, Number(key));
  return last;
}

function partAt(value: unknown, scope: Scope, key: string): Json | undefined {
  const below = scopeAt(scope, key);
  return below === undefined ? undefined : part(value, below);
}

function members(object: object, scope: Scope): Json {
  const names = scope.any === undefined ? [...scope.keys.keys()] : Object.keys(object);
  const found: [string, Json][] = [];
  for (const name of names.sort()) {
    const member = Object.hasOwn(object, name)
      ? partAt((object as Record<string, unknown>)[name], scope, name)
      : undefined;
    if (member !== undefined) found.push([name, member]);
  }
  // As `Object.fromEntries` defines members, one named `__proto__` is one like any other.
  return Object.fromEntries(found);
}
