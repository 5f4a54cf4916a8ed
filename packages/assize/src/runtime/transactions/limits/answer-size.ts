import { types } from 'node:util';
import { defineOwn, isInstance, type Json, thrownText } from '#base';
import { CanonError, type CanonLimits, copyJson, DEFAULT_LIMITS, WORLD_LIMITS } from '#canon';
import { EffectError } from '#effects';

const UNDO_ANSWER_DEPTH = 512;

/**
 * Size limits of an answer that is held in memory only, for the compensation of its call. A shared
 * value counts each time, because a copy of it shares nothing.
 */
export const UNDO_ANSWER_LIMITS: Partial<CanonLimits> = Object.freeze({
  bytesMax: WORLD_LIMITS.bytesMax,
  nodesMax: 1_048_576,
  depthMax: UNDO_ANSWER_DEPTH,
  foreign: true,
});

const FOREIGN = Object.freeze({ foreign: true });

/** The maximum size of an answer, as a part of a sentence. */
const ROOM = `as JSON it has more than ${DEFAULT_LIMITS.bytesMax} bytes, or more than ${DEFAULT_LIMITS.nodesMax} values, or is nested deeper than ${DEFAULT_LIMITS.depthMax}`;

/**
 * A copy of an answer. `undefined` is dropped from objects, and null in lists, as in
 * `JSON.stringify`.
 *
 * @throws CanonError
 */
function jsonOf(answer: unknown, limits: Partial<CanonLimits>): Json {
  try {
    return copyJson(answer, limits);
  } catch (error) {
    if (isTooMuch(error)) throw error;
    return copyJson(withoutUndefined(answer, new Map()), limits);
  }
}

/**
 * Plain objects and lists without `undefined`. All other values stay, and `copyJson` refuses them.
 * `made`: the results by original, so that shared values stay shared and circles end.
 */
function withoutUndefined(value: unknown, made: Map<object, unknown>, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || depth > UNDO_ANSWER_DEPTH || !isPlain(value))
    return value;
  const before = made.get(value);
  if (before !== undefined) return before;
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    made.set(value, items);
    for (const item of value)
      items.push(item === undefined ? null : withoutUndefined(item, made, depth + 1));
    return items;
  }
  const members = {};
  made.set(value, members);
  for (const [name, member] of Object.entries(value))
    if (member !== undefined) defineOwn(members, name, withoutUndefined(member, made, depth + 1));
  return members;
}

/** Whether reading it runs no code, and all of its own members are listed. */
function isPlain(value: object): boolean {
  if (types.isProxy(value) || Object.getOwnPropertySymbols(value).length > 0) return false;
  const prototype = Object.getPrototypeOf(value);
  const named = Object.entries(Object.getOwnPropertyDescriptors(value));
  if (named.some(([name, own]) => !('value' in own) || !(own.enumerable || name === 'length')))
    return false;
  if (Array.isArray(value))
    return prototype === Array.prototype && named.length === value.length + 1;
  return prototype === Object.prototype || prototype === null;
}

/** A copy of an answer. Undefined if it is too long to store, or is not JSON. */
export function keepable(answer: unknown): Json | undefined {
  return keepableOrWhy(answer).kept;
}

/** The same with the reason: the answer is too long, or is not JSON. */
export function keepableOrWhy(
  answer: unknown,
):
  | { readonly kept: Json }
  | { readonly kept?: undefined; readonly why: 'too_long' | 'unreadable' } {
  try {
    return { kept: jsonOf(answer, FOREIGN) };
  } catch (error) {
    return { why: isTooMuch(error) ? 'too_long' : 'unreadable' };
  }
}

/**
 * A copy of an answer that is too long to store. Undefined if it also exceeds the memory limit or
 * is not JSON.
 */
export function longer(answer: unknown): Json | undefined {
  try {
    return jsonOf(answer, UNDO_ANSWER_LIMITS);
  } catch {
    return undefined;
  }
}

/**
 * A copy of the answer of a tool that changed nothing, so that there is nothing to compensate.
 *
 * @throws EffectError `too_much`, `tool_failed`, naming the tool
 */
export function answerOf(tool: string, answer: unknown): Json {
  try {
    return jsonOf(answer ?? null, FOREIGN);
  } catch (cause) {
    const evidence = { tool };
    if (isTooMuch(cause))
      throw new EffectError(
        'too_much',
        `The answer of ${tool} is too long: ${ROOM}. Request less at a time.`,
        {
          evidence,
          cause,
        },
      );
    const why = thrownText(cause).replace(/\.$/, '');
    throw new EffectError('tool_failed', `The answer of ${tool} is not JSON: ${why}.`, {
      evidence,
      cause,
    });
  }
}

/** The error for a body that does not receive the answer of an executed call. */
export function tooLong(tool: string, key: string): EffectError {
  return new EffectError(
    'too_much',
    `${tool} was executed, but its answer is too long to store: ${ROOM}. Continue without the answer, or let the transaction fail to compensate it; return less from the tool.`,
    { evidence: { tool, key } },
  );
}

/** The error for the body, if the answer of an executed call is not JSON. */
export function unreadable(tool: string, key: string): EffectError {
  return new EffectError(
    'answer_unreadable',
    `${tool} was executed, but its answer is not JSON. Continue without the answer; return JSON from the tool.`,
    { evidence: { tool, key } },
  );
}

/** A copy of an answer for the operator. If it cannot be stored, a placeholder. */
export function storedAnswer(answer: unknown): Json {
  const read = keepableOrWhy(answer);
  if (read.kept !== undefined) return read.kept;
  return {
    unknown: read.why === 'too_long' ? `the answer is too long: ${ROOM}` : 'the answer is not JSON',
  };
}

/** A copy of a residue or a mitigation. If it cannot be stored, a placeholder. */
export function storedResidue(tool: string, left: unknown): Json {
  const read = keepableOrWhy(left);
  return read.kept === undefined ? oversizedResidue(tool, read.why) : read.kept;
}

/** The placeholder for a value that is too long to store, or is not JSON. */
export function oversizedResidue(tool: string, why: 'too_long' | 'unreadable' = 'too_long'): Json {
  const what = why === 'too_long' ? `is too long to be kept: ${ROOM}` : 'is not JSON';
  return { unknown: `what ${tool} has answered when it was undone ${what}` };
}

function isTooMuch(error: unknown): boolean {
  return isInstance(error, CanonError) && ['too_large', 'too_complex'].includes(error.code);
}
