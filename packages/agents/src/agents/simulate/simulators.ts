import { isUnwantedPromise, type Json } from 'assize/internal/base';
import { canonicalize, copyJson } from 'assize/internal/canon';
import { DidNothing } from 'assize/internal/effects';
import { AgentError } from '../errors.ts';

/**
 * Answers the calls of a tool that the record does not have: a pure function, or data. Undefined:
 * no answer; this ends the sample.
 *
 * A function throws `DidNothing` for a call that fails without an effect. Any other error ends the
 * sample as failed.
 */
export type ToolSimulator = ((input: any, context: SimulatorContext) => unknown) | SimulatorRule;

/** The other inputs of a simulator, next to the call. All of them are copies. */
export interface SimulatorContext {
  /** The state of the branch. */
  readonly state: Json;
  /** The earlier calls of the sample with their answers, of all tools, oldest first. */
  readonly calls: readonly SimulatedCall[];
  /** A number from 0 up to 1. Equal calls of equal samples get equal numbers. */
  readonly random: () => number;
}

/** A call in a branch. A call that did nothing has no answer. */
export interface SimulatedCall {
  readonly tool: string;
  readonly input: Json;
  readonly from: 'record' | 'simulator';
  readonly answer?: Json;
}

/** A simulator as data, so that a file can have it. */
export type SimulatorRule =
  /** The same answer to every call. */
  | { readonly answer: Json }
  /** The call fails and has done nothing. */
  | { readonly error: string }
  /** `use` with this probability, 0 to 1, and else `otherwise`. */
  | {
      readonly probability: number;
      readonly use: SimulatorRule;
      readonly otherwise?: SimulatorRule;
    }
  /** The first row whose fields the input has, with equal values. */
  | {
      readonly table: readonly {
        readonly when: { readonly [field: string]: Json };
        readonly use: SimulatorRule;
      }[];
      readonly otherwise?: SimulatorRule;
    };

const DEPTH_MAX = 32;

/** The answer to a call, as a copy. Undefined: the simulator has none. */
export function simulated(
  simulator: ToolSimulator,
  input: Json,
  context: SimulatorContext,
): Json | undefined {
  if (typeof simulator !== 'function') return ruled(simulator, input, context);
  const answer: unknown = simulator(copyJson(input, { foreign: true }), context);
  if (answer === undefined) return undefined;
  if (isUnwantedPromise(answer))
    throw new TypeError('a simulator returned a promise; return the answer itself');
  return copyJson(answer, { foreign: true });
}

function ruled(
  rule: SimulatorRule | undefined,
  input: Json,
  context: SimulatorContext,
): Json | undefined {
  if (rule === undefined) return undefined;
  if ('answer' in rule) return copyJson(rule.answer, { foreign: true });
  if ('error' in rule) throw new DidNothing(rule.error, { final: true });
  if ('probability' in rule)
    return ruled(context.random() < rule.probability ? rule.use : rule.otherwise, input, context);
  const row = rule.table.find(({ when }) =>
    Object.entries(when).every(([field, value]) => has(input, field, value)),
  );
  return ruled(row === undefined ? rule.otherwise : row.use, input, context);
}

function has(input: Json, field: string, value: Json): boolean {
  if (
    typeof input !== 'object' ||
    input === null ||
    Array.isArray(input) ||
    !Object.hasOwn(input, field)
  )
    return false;
  const found = (input as { readonly [field: string]: Json })[field] as Json;
  return canonicalize(found, { foreign: true }) === canonicalize(value, { foreign: true });
}

/** @throws AgentError `bad_argument` */
export function checkSimulator(tool: string, simulator: unknown): void {
  if (typeof simulator === 'function') return;
  const fault = faultOf(simulator, 0);
  if (fault === undefined) return;
  throw new AgentError('bad_argument', `The simulator of ${tool} is not valid: ${fault}.`, {
    evidence: { tool },
  });
}

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  answer: [],
  error: [],
  probability: ['use', 'otherwise'],
  table: ['otherwise'],
};

function faultOf(rule: unknown, depth: number): string | undefined {
  if (depth > DEPTH_MAX) return `it is nested more than ${DEPTH_MAX} times`;
  if (!isObject(rule)) return 'it must be a function or an object';
  const kind = Object.keys(FIELDS).find((field) => Object.hasOwn(rule, field));
  if (kind === undefined) return `it needs one of the fields ${Object.keys(FIELDS).join(', ')}`;
  const unknown = Object.keys(rule).find(
    (field) => field !== kind && !FIELDS[kind]?.includes(field),
  );
  if (unknown !== undefined)
    return `it has the fields ${kind} and ${unknown}; they do not go together`;
  return partFault(kind, rule, depth);
}

function partFault(
  kind: string,
  rule: { readonly [field: string]: unknown },
  depth: number,
): string | undefined {
  const { answer, error, probability, use, otherwise, table } = rule;
  if (kind === 'answer') return isJson(answer) ? undefined : 'its answer is not JSON';
  if (kind === 'error')
    return typeof error === 'string' && error !== '' ? undefined : 'its error must be a text';
  const last = otherwise === undefined ? undefined : faultOf(otherwise, depth + 1);
  if (kind === 'probability')
    return isChance(probability)
      ? (faultOf(use, depth + 1) ?? last)
      : 'its probability must be a number from 0 to 1';
  if (!Array.isArray(table)) return 'its table must be a list';
  for (const row of table) {
    if (!isObject(row) || !isObject(row['when']) || !isJson(row['when']))
      return 'each row of its table needs an object when';
    const fault = faultOf(row['use'], depth + 1);
    if (fault !== undefined) return fault;
  }
  return last;
}

function isChance(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= 1;
}

function isJson(value: unknown): boolean {
  try {
    copyJson(value, { foreign: true });
    return true;
  } catch {
    return false;
  }
}

function isObject(value: unknown): value is { readonly [field: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
