import type { z } from 'zod';
import { EVERYTHING, type Scope, scopeAt } from './footprint.ts';
import { partsOf } from './schema.ts';

/**
 * The scope widened by the schema: if all members of an object lie in the footprint, the whole
 * object is in it. Returns the same scope object if there is no such place.
 */
export function widenScope(scope: Scope, schema: z.ZodType): Scope {
  if (scope.all) return scope;
  const parts = partsOf(schema);
  if (parts === undefined) return scope;
  const below = (key: string, child: Scope): Scope => {
    const part = parts.members.get(key) ?? parts.every;
    return part === undefined ? child : widenScope(child, part);
  };
  const keys = new Map<string, Scope>();
  for (const [key, child] of scope.keys) keys.set(key, below(key, child));
  const any = scope.any === undefined || parts.every === undefined ? scope.any : widenScope(scope.any, parts.every);
  const next: Scope = { all: false, append: scope.append, keys, any };
  if (isFull(next, [...parts.members.keys()], parts.every !== undefined)) return EVERYTHING;
  const same = any === scope.any && [...keys].every(([key, child]) => child === scope.keys.get(key));
  return same ? scope : next;
}

function isFull(scope: Scope, members: readonly string[], open: boolean): boolean {
  if (open) return scope.any?.all === true && [...scope.keys.values()].every(({ all }) => all);
  return members.length > 0 && members.every((key) => scopeAt(scope, key)?.all === true);
}
