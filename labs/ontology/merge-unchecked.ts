import { defineOwn, type Json } from 'assize/internal/base';
import { copyJson, parsePointer, WORLD_LIMITS } from 'assize/internal/canon';
import type { PatchOperation } from 'assize/internal/kernel';

type Place = { [key: string]: Json } | Json[];

/**
 * A state with the changes of two proposals that were each made on it, one after the other. A
 * shared log without adjudication would fold into this state. If both add an object or a list at
 * one place, their items are merged. Undefined if the second changes a place that the first
 * removed.
 */
export function mergeUnchecked(
  state: Json,
  first: readonly PatchOperation[],
  second: readonly PatchOperation[],
): Json | undefined {
  const whole = copyJson(state, WORLD_LIMITS);
  for (const operation of [...first, ...second]) if (!applied(whole, operation)) return undefined;
  return whole;
}

function applied(whole: Json, operation: PatchOperation): boolean {
  const names = parsePointer(operation.path);
  const last = names.pop();
  let here: Json | undefined = whole;
  for (const name of names) here = memberOf(here, name);
  if (last === undefined || typeof here !== 'object' || here === null) return false;
  return Array.isArray(here)
    ? onList(here as Json[], last, operation)
    : onObject(here as { [key: string]: Json }, last, operation);
}

function onList(list: Json[], name: string, operation: PatchOperation): boolean {
  const index = Number(name);
  if (operation.op === 'add') {
    if (index > list.length) return false;
    list.splice(index, 0, copyJson(operation.value, WORLD_LIMITS));
    return true;
  }
  if (index >= list.length) return false;
  if (operation.op === 'remove') list.splice(index, 1);
  else list[index] = copyJson(operation.value, WORLD_LIMITS);
  return true;
}

function onObject(
  object: { [key: string]: Json },
  name: string,
  operation: PatchOperation,
): boolean {
  if (operation.op === 'add') {
    defineOwn(
      object,
      name,
      merged(memberOf(object, name), copyJson(operation.value, WORLD_LIMITS)),
    );
    return true;
  }
  if (!Object.hasOwn(object, name)) return false;
  if (operation.op === 'remove') delete object[name];
  else defineOwn(object, name, copyJson(operation.value, WORLD_LIMITS));
  return true;
}

function merged(before: Json | undefined, added: Json): Json {
  if (Array.isArray(before) && Array.isArray(added)) return [...before, ...added];
  if (!isObject(before) || !isObject(added)) return added;
  const both: Place = { ...before };
  for (const [key, value] of Object.entries(added))
    defineOwn(both, key, merged(memberOf(before, key), value));
  return both;
}

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as { readonly [key: string]: Json })[name];
}
