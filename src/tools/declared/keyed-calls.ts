import type { Tool, ToolSpec } from '#effects';
import { commonKey, type KeyReader, keyReader } from './common-key.ts';
import { EFFECT_KEY, formWithin, type KeyForm } from './key.ts';

/** What a tool calls a function for. */
export type Part = 'execute' | 'compensate' | 'mitigate' | 'reconcile';

/** A function that a tool calls, and under which keys. */
export interface KeyedCall {
  readonly part: Part;
  readonly callee: (...args: any[]) => unknown;
  /** As the declaration names it. */
  readonly name: string;
  readonly form: KeyForm;
  readonly keys: KeyReader;
}

/** Of a declared tool. In what is made of it by spreading, as around its calls, it stands as well. */
export const CALLS: unique symbol = Symbol('calls of a declared tool');

/**
 * The functions that are called in the end, where something is called for a part of a tool under keys of that form: for a declared tool,
 * which makes keys of its own of them, what that calls.
 */
export function keyedCalls(part: Part, name: string, target: Tool | KeyedCall['callee'], form: KeyForm): KeyedCall[] {
  if (typeof target === 'function') return [keyedCall(part, name, target, form)];
  return callsOf(target)
    .filter((call) => call.part === 'execute')
    .map((call) => keyedCall(part, name, call.callee, formWithin(call.form, form)));
}

/**
 * Why a tool that makes these calls can't be used beside another, or undefined. A sink that is called by both would take a call of one for
 * one that the other has made. The function is what it goes by: one may have two names.
 *
 * That every key begins with the name of its tool would do as well, and nobody would have to be refused; but a sink knows what was
 * done by the keys that it was given, and would do again what an earlier version has done.
 */
export function besideProblem(name: string, calls: readonly KeyedCall[], other: Tool): string | undefined {
  for (const call of calls) {
    for (const { callee, keys } of callsOf(other)) {
      const key = callee === call.callee ? commonKey(call.keys, keys) : undefined;
      if (key !== undefined)
        return `its keys at ${call.name} may be those of ${other.name}, such as ${JSON.stringify(key)}; begin the keys of each with the name of its tool, as in ${name}/…`;
    }
  }
  return undefined;
}

/** A tool that is not declared is called itself, with the key of the effect. */
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
