import type { Json } from '#base';
import { copyJson, WORLD_LIMITS } from '#canon';
import { type Scope, scopeAt } from '../domain/footprint.ts';
import { type Container, hasMember } from './view.ts';

/**
 * The part of a state under a footprint, as a copy with its keys in order. A footprint without `*`
 * costs its named places and not the size of the state. A hidden element of a list leaves null in
 * its place before visible ones. The length of a list is visible only with all its elements. A list
 * that can only be appended to is not visible.
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

/** The last index of a list that a footprint names, or -1. */
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
  // `Object.fromEntries` defines members, so `__proto__` is an ordinary key.
  return Object.fromEntries(found);
}
