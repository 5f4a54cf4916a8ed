import type { Tool, ToolSpec } from 'assize/internal/effects';
import { commonKey, type KeyReader, keyReader } from './common-key.ts';
import { EFFECT_KEY, formWithin, type KeyForm } from './key.ts';

/** The purpose for which a tool calls a function. */
export type Part = 'execute' | 'compensate' | 'mitigate' | 'reconcile';

/** A function that a tool calls, and the form of its keys. */
export interface KeyedCall {
  readonly part: Part;
  readonly callee: (...args: any[]) => unknown;
  /** The name in the declaration. */
  readonly name: string;
  readonly form: KeyForm;
  readonly keys: KeyReader;
}

/** The calls of a declared tool. A spread copy of the tool has the field as well. */
export const CALLS: unique symbol = Symbol('calls of a declared tool');

/**
 * The functions that are finally called if the callable is called for a part of a tool under keys
 * of that form. A declared tool derives its own keys from these, so its own functions are returned.
 */
export function keyedCalls(part: Part, name: string, target: Tool | KeyedCall['callee'], form: KeyForm): KeyedCall[] {
  if (typeof target === 'function') return [keyedCall(part, name, target, form)];
  return callsOf(target)
    .filter((call) => call.part === 'execute')
    .map((call) => keyedCall(part, name, call.callee, formWithin(call.form, form)));
}

/**
 * Why a tool that makes these calls can't be used with another tool, or undefined. A sink that both
 * tools call would confuse their calls. Functions are compared by identity, because one function
 * may have two names.
 * Keys could start with the name of their tool instead, and no tool would be refused. But a sink
 * identifies effects by the keys that it received. It would repeat effects of an earlier version.
 */
export function keyConflict(name: string, calls: readonly KeyedCall[], other: Tool): string | undefined {
  for (const call of calls) {
    for (const { callee, keys } of callsOf(other)) {
      const key = callee === call.callee ? commonKey(call.keys, keys) : undefined;
      if (key !== undefined)
        return `its keys at ${call.name} can equal keys of ${other.name}, such as ${JSON.stringify(key)}. Start the keys of each tool with its name, as in ${name}/…`;
    }
  }
  return undefined;
}

/** A tool without a declaration is called itself, with the key of the effect. */
function callsOf({ name, spec }: Tool): readonly KeyedCall[] {
  const { [CALLS]: declared } = spec as ToolSpec & { readonly [CALLS]?: readonly KeyedCall[] };
  if (declared !== undefined) return declared;
  return PARTS.flatMap((part) => {
    const callee = spec[part];
    return callee === undefined ? [] : [{ part, callee, name, form: EFFECT_KEY, keys: EFFECT_KEYS }];
  });
}

const EFFECT_KEYS = keyReader(EFFECT_KEY);
const PARTS: readonly Part[] = ['execute', 'compensate', 'mitigate', 'reconcile'];

function keyedCall(part: Part, name: string, callee: KeyedCall['callee'], form: KeyForm): KeyedCall {
  return { part, name, callee, form, keys: keyReader(form) };
}
