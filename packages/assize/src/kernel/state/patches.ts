import { defineOwn, type Json } from '#base';
import { parsePointer, toPointer } from '#canon';
import type { Change } from '../domain/change.ts';
import type { Domain } from '../domain/domain.ts';
import { type Scope, scopeAt } from '../domain/footprint.ts';
import { isErased } from '../domain/sensitive.ts';

/** An RFC 6902 operation. `sensitive`: the ledger stores its value by salted hash only. */
export type PatchOperation =
  | {
      readonly op: 'add' | 'replace';
      readonly path: string;
      readonly value: Json;
      readonly sensitive?: true;
    }
  | { readonly op: 'remove'; readonly path: string };

/**
 * The changes that led to this state as RFC 6902 operations. The values are those of the state:
 * record them in the same turn.
 *
 * A sensitive value has its own operation, always with the whole value. It is left out of the value
 * above it, and rewritten when a part of it changes. So an erasable value has no operation above or
 * below it.
 */
export function patchesOf(
  { sensitive }: Domain,
  state: unknown,
  changes: readonly Change[],
): PatchOperation[] {
  if (sensitive === undefined) return plainPatches(changes);
  const patches: PatchOperation[] = [];
  const written = new Set<string>();
  for (const change of changes) {
    const { depth, scope } = down(sensitive, change.keys);
    if (scope === undefined || change.op === 'remove') {
      if (depth === undefined || depth >= change.keys.length) patches.push(plainPatch(change));
      else writeWhole(state, change.keys.slice(0, depth), written, patches);
    } else if (!scope.all) writeParted(change.op, change.keys, change.value, scope, patches);
    else if (depth === change.keys.length)
      patches.push(whole(change.op, change.keys, change.value as Json));
    else writeWhole(state, change.keys.slice(0, depth), written, patches);
  }
  return patches;
}

/** A state without its sensitive values, and the operations that add them. */
export function partedState(
  { sensitive }: Domain,
  state: Json,
): { plain: Json; sensitive: PatchOperation[] } {
  if (sensitive === undefined) return { plain: state, sensitive: [] };
  const parts: PatchOperation[] = [];
  return { plain: without(state, sensitive, [], parts), sensitive: parts };
}

/** The same for a change without sensitive values. */
export function plainPatches(changes: readonly Change[]): PatchOperation[] {
  return changes.map(plainPatch);
}

function plainPatch({ op, keys, value }: Change): PatchOperation {
  const path = toPointer(keys);
  return op === 'remove' ? { op, path } : { op, path, value: value as Json };
}

/** The remainder of an erasure needs no protection. */
function whole(op: 'add' | 'replace', keys: readonly string[], value: Json): PatchOperation {
  const patch = { op, path: toPointer(keys), value };
  return isErased(value) ? patch : { ...patch, sensitive: true };
}

/** The sensitive value that contains a place, if there is one. */
export function sensitiveAbove({ sensitive }: Domain, path: string): string | undefined {
  const keys = parsePointer(path);
  const { depth } = sensitive === undefined ? { depth: undefined } : down(sensitive, keys);
  return depth === undefined || depth === keys.length ? undefined : toPointer(keys.slice(0, depth));
}

/** Whether the domain marks a value sensitive that contains a place, is at it, or is below it. */
export function marksAt({ sensitive }: Domain, path: string): boolean {
  if (sensitive === undefined) return false;
  const { depth, scope } = down(sensitive, parsePointer(path));
  return depth !== undefined || scope !== undefined;
}

/**
 * The depth at which a sensitive part starts on a path, and the sensitive scope from the path's end
 * on.
 */
function down(
  sensitive: Scope,
  keys: readonly string[],
): { readonly depth: number | undefined; readonly scope: Scope | undefined } {
  let scope: Scope | undefined = sensitive;
  for (let i = 0; i < keys.length; i++) {
    scope = scopeAt(scope, keys[i] as string);
    if (scope === undefined) return { depth: undefined, scope };
    if (scope.all) return { depth: i + 1, scope };
  }
  return { depth: undefined, scope };
}

function writeWhole(
  state: unknown,
  keys: readonly string[],
  written: Set<string>,
  out: PatchOperation[],
): void {
  const path = toPointer(keys);
  if (written.has(path)) return;
  written.add(path);
  const value = keys.reduce((here, key) => (here as Record<string, unknown>)[key], state);
  out.push(whole('replace', keys, value as Json));
}

function writeParted(
  op: 'add' | 'replace',
  keys: readonly string[],
  value: unknown,
  scope: Scope,
  out: PatchOperation[],
): void {
  const parts: PatchOperation[] = [];
  const plain = without(value as Json, scope, keys, parts);
  out.push({ op, path: toPointer(keys), value: plain }, ...parts);
}

/**
 * A copy without sensitive values, down to the levels that have none. The omitted values go to
 * `parts`, in order.
 */
function without(
  value: Json,
  scope: Scope,
  path: readonly string[],
  parts: PatchOperation[],
): Json {
  if (typeof value !== 'object' || value === null) return value;
  const plain: Json[] | Record<string, Json> = Array.isArray(value) ? [] : {};
  // In the order of canonical text, independent of the order of writing.
  for (const key of Array.isArray(value) ? Object.keys(value) : Object.keys(value).sort()) {
    const part = (value as Record<string, Json>)[key] as Json;
    const inside = scopeAt(scope, key);
    const keys = [...path, key];
    if (inside?.all) parts.push(whole('add', keys, part));
    else defineOwn(plain, key, inside === undefined ? part : without(part, inside, keys, parts));
  }
  return plain as Json;
}
