import type { Json } from 'assize/internal/base';
import { parsePointer } from 'assize/internal/canon';
import type { ToolSpec } from '../rules/rules.ts';
import { type Host, readHost } from './host-name.ts';
import { type Found, readPath } from './path-name.ts';

/** The resources that a call names, as its tool declares them. */
export interface Resources {
  readonly reads: Found<readonly string[]>;
  readonly writes: Found<readonly string[]>;
  readonly hosts: Found<readonly Host[]>;
  /** Whole numbers by unit. */
  readonly amounts: Readonly<Record<string, Found<number>>>;
}

const NONE: Found<readonly never[]> = { value: [] };
export const NO_RESOURCES: Resources = { reads: NONE, writes: NONE, hosts: NONE, amounts: {} };

/** Reads the declared places of the arguments. An optional place may be absent, an amount not. */
export function resourcesOf(spec: ToolSpec | undefined, args: Json): Resources {
  if (spec === undefined) return NO_RESOURCES;
  const { reads = [], writes = [], hosts = [], amounts = {}, root } = spec;
  const paths = (pointers: readonly string[]) =>
    all(pointers, args, (value) => readPath(value, root));
  return {
    reads: paths(reads),
    writes: paths(writes),
    hosts: all(hosts, args, readHost),
    amounts: Object.fromEntries(
      Object.entries(amounts).map(([unit, pointer]) => [
        unit,
        readAmount(pointer, valueAt(args, pointer)),
      ]),
    ),
  };
}

/** The resources of several parts together. An amount is the sum of its parts. */
export function joinedResources(all: readonly Resources[]): Resources {
  const amounts: Record<string, Found<number>> = {};
  for (const [unit, found] of all.flatMap((each) => Object.entries(each.amounts))) {
    const before = Object.hasOwn(amounts, unit) ? (amounts[unit] as Found<number>) : { value: 0 };
    amounts[unit] =
      'problem' in before || 'problem' in found ? firstProblem(before, found) : sum(before, found);
  }
  return {
    reads: joined(all.map(({ reads }) => reads)),
    writes: joined(all.map(({ writes }) => writes)),
    hosts: joined(all.map(({ hosts }) => hosts)),
    amounts,
  };
}

function joined<T>(all: readonly Found<readonly T[]>[]): Found<readonly T[]> {
  const values: T[] = [];
  for (const found of all) {
    if ('problem' in found) return found;
    values.push(...found.value);
  }
  return { value: values };
}

function firstProblem(before: Found<number>, found: Found<number>): Found<number> {
  return 'problem' in before ? before : found;
}

function sum(before: { readonly value: number }, found: { readonly value: number }): Found<number> {
  const value = before.value + found.value;
  return Number.isSafeInteger(value)
    ? { value }
    : { problem: 'the amounts of the parts are too large' };
}

function readAmount(pointer: string, found: Found<Json | undefined>): Found<number> {
  if ('problem' in found) return found;
  const { value } = found;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return { value };
  return { problem: `the amount at ${pointer} is not a whole number from 0` };
}

function all<T>(
  pointers: readonly string[],
  args: Json,
  read: (value: unknown) => Found<T>,
): Found<readonly T[]> {
  const values: T[] = [];
  for (const pointer of pointers) {
    const found = valueAt(args, pointer);
    if ('problem' in found) return found;
    if (found.value === undefined) continue;
    for (const one of Array.isArray(found.value) ? found.value : [found.value]) {
      const value = read(one);
      if ('problem' in value) return { problem: `the argument at ${pointer} ${value.problem}` };
      values.push(value.value);
    }
  }
  return { value: values };
}

/**
 * The value at a pointer, or undefined if an object has no such member. A list or a text on the way
 * is a problem: another reader could find the value elsewhere.
 */
function valueAt(args: Json, pointer: string): Found<Json | undefined> {
  let value: Json = args;
  for (const key of parsePointer(pointer)) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return { problem: `the argument at ${pointer} is not where the tool declares it` };
    if (!Object.hasOwn(value, key)) return { value: undefined };
    value = (value as { readonly [key: string]: Json })[key] as Json;
  }
  return { value };
}
