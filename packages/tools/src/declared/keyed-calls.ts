import type { Tool, ToolSpec } from 'assize/internal/effects';
import { EFFECT_KEY, type KeyStart, mayBeEqual, startWithin } from './key.ts';

/** The purpose for which a tool calls a function. */
export type Part = 'execute' | 'compensate' | 'mitigate' | 'reconcile';

/** A function that a tool calls, and the start of its keys. */
export interface KeyedCall {
  readonly part: Part;
  readonly callee: (...args: any[]) => unknown;
  /** The name in the declaration. */
  readonly name: string;
  readonly keys: KeyStart;
}

/** The calls of a declared tool. A spread copy of the tool has the field as well. */
export const CALLS: unique symbol = Symbol('calls of a declared tool');

/**
 * The functions that are finally called if the callable is called for a part of a tool under keys
 * with that start. A declared tool derives its own keys from these, so its own functions are
 * returned.
 */
export function keyedCalls(
  part: Part,
  name: string,
  target: Tool | KeyedCall['callee'],
  keys: KeyStart,
): KeyedCall[] {
  if (typeof target === 'function') return [{ part, name, callee: target, keys }];
  return callsOf(target)
    .filter((call) => call.part === 'execute')
    .map(({ callee, keys: own }) => ({ part, name, callee, keys: startWithin(own, keys) }));
}

/**
 * Why a tool that makes these calls can't be used with another tool, or undefined. A sink that both
 * tools call would confuse their calls. Functions are compared by identity, because one function
 * may have two names. The keys of each tool must begin differently: a sink knows the effects of
 * earlier versions by their keys, so no prefix is added to a key that the author chose.
 */
export function keyConflict(
  name: string,
  calls: readonly KeyedCall[],
  other: Tool,
): string | undefined {
  const found = calls.find((call) =>
    callsOf(other).some(
      ({ callee, keys }) => callee === call.callee && mayBeEqual(call.keys, keys),
    ),
  );
  if (found === undefined) return undefined;
  return `its keys at ${found.name} can equal keys of ${other.name}. Start the keys of each tool with its name, as in ${name}/…`;
}

/** A tool without a declaration is called itself, with the key of the effect. */
function callsOf({ name, spec }: Tool): readonly KeyedCall[] {
  const { [CALLS]: declared } = spec as ToolSpec & { readonly [CALLS]?: readonly KeyedCall[] };
  if (declared !== undefined) return declared;
  return PARTS.flatMap((part) => {
    const callee = spec[part];
    return callee === undefined ? [] : [{ part, callee, name, keys: EFFECT_KEY }];
  });
}

const PARTS: readonly Part[] = ['execute', 'compensate', 'mitigate', 'reconcile'];
