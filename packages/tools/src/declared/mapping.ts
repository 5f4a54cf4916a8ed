import type { Json } from 'assize/internal/base';
import { parsePointer } from 'assize/internal/canon';
import { DidNothing } from 'assize/internal/effects';

/** The sources of arguments. */
export interface Sources {
  readonly input: Json;
  readonly result?: Json;
  readonly residue?: Json;
}

/**
 * Arguments as data. Every `{"$from": "/input/…"}`, `/result/…` or `/residue/…` stands for the
 * value at that pointer.
 */
export type Mapping = Json;

/** Why a mapping can't be used, or undefined. `members`: the fields that the input can have. */
export function mappingProblem(
  mapping: Mapping,
  allowed: readonly (keyof Sources)[],
  members: ReadonlySet<string>,
): string | undefined {
  const from = fromOf(mapping);
  if (from === undefined) {
    const inside = typeof mapping === 'object' && mapping !== null ? Object.values(mapping) : [];
    for (const each of inside) {
      const problem = mappingProblem(each as Mapping, allowed, members);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  const beside = Object.keys(mapping as object).find((member) => member !== '$from');
  if (beside !== undefined)
    return `$from must be the only field, without ${JSON.stringify(beside)}`;
  const path = pathOf(from);
  if (path === undefined || !allowed.includes(path[0] as keyof Sources))
    return `$from must be a JSON pointer into ${allowed.map((name) => `/${name}`).join(' or ')}, not ${JSON.stringify(from)}`;
  if (path[0] === 'input' && path[1] !== undefined && !members.has(path[1]))
    return `${JSON.stringify(from)} is not a field of the input`;
  return undefined;
}

/**
 * The arguments of a mapping.
 * @throws DidNothing if a pointer has no value
 */
export function mapped(mapping: Mapping, sources: Sources): Json {
  const from = fromOf(mapping);
  if (from !== undefined) return found(String(from), sources);
  if (Array.isArray(mapping)) return mapping.map((each) => mapped(each, sources));
  if (typeof mapping !== 'object' || mapping === null) return mapping;
  return Object.fromEntries(
    Object.entries(mapping).map(([name, each]) => [name, mapped(each, sources)]),
  );
}

/** @throws DidNothing if a pointer into the input has no value */
export function requireFrom(mapping: Mapping, input: Json): void {
  const from = fromOf(mapping);
  if (from !== undefined) {
    if (pathOf(from)?.[0] === 'input') found(String(from), { input });
  } else if (typeof mapping === 'object' && mapping !== null)
    for (const each of Object.values(mapping)) requireFrom(each as Mapping, input);
}

function fromOf(mapping: Mapping): Json | undefined {
  if (typeof mapping !== 'object' || mapping === null || Array.isArray(mapping)) return undefined;
  const members = mapping as { readonly [name: string]: Json };
  return Object.hasOwn(members, '$from') ? (members['$from'] as Json) : undefined;
}

function pathOf(from: Json): string[] | undefined {
  try {
    return parsePointer(from as string);
  } catch {
    return undefined;
  }
}

function found(from: string, sources: Sources): Json {
  let value: unknown = sources;
  for (const name of parsePointer(from)) {
    const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
    if (!isThere) throw new DidNothing(`the call has no value at ${from}`, { final: true });
    value = (value as Record<string, unknown>)[name];
  }
  return value as Json;
}
