import type { Amounts } from 'assize/internal/authority';
import { isInstance, type Json } from 'assize/internal/base';
import { copyJson } from 'assize/internal/canon';
import {
  type CallContext,
  type CompensationResult,
  DidNothing,
  declareTool,
  EffectError,
  type ReconcileResult,
  type Tool,
  type ToolSpec,
} from 'assize/internal/effects';
import { z } from 'zod';
import { compiled } from '#schemas';
import { invalidTool, readOptions } from '../options.ts';
import { filledKey, keyProblem, keyStart } from './key.ts';
import { CALLS, type KeyedCall, keyConflict, keyedCalls, type Part } from './keyed-calls.ts';
import { type Mapping, mapped, mappingProblem, requireFrom, type Sources } from './mapping.ts';

/** A callable by name, with its arguments. Default: the tool receives the whole input. */
export interface DeclaredCall {
  readonly call: string;
  readonly args?: Mapping;
}

/** A tool as plain data. A file can contain it. */
export interface ToolDeclaration {
  readonly name: string;
  readonly description?: string;
  /**
   * A JSON Schema of an object, of the draft that its `$schema` names, by default 2020-12. A schema
   * that can't be checked in full is refused.
   */
  readonly input: { readonly [keyword: string]: Json };
  readonly class: ToolSpec['class'];
  /** Scopes with `{member}` for a part of the input. */
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  /**
   * The key under which the sink knows a call, with `{member}` and `{key}`. Default: the key of the
   * effect, `{key}`.
   */
  readonly key?: string;
  readonly execute: DeclaredCall;
  /**
   * Compensates the effect, with arguments from the input and the result. An answer with `undone`
   * states the extent, as `Undone`. Any other answer means that the effect is compensated in full.
   */
  readonly compensate?: DeclaredCall;
  /** Mitigates the residue, with arguments from the input and the residue. */
  readonly mitigate?: DeclaredCall;
  /**
   * Queries whether the effect happened, with arguments from the input. The answer is
   * `{"happened": true, "result": …}` or false.
   */
  readonly reconcile?: DeclaredCall;
  readonly uncompensated?: string;
  /**
   * The cost of a call, and of its compensation, by unit of the writ's budget: whole numbers, equal
   * for every call.
   */
  readonly cost?: Amounts;
  readonly undoCost?: Amounts;
  /**
   * The kind of counselor that approves an effect which can be neither compensated nor buffered.
   */
  readonly channel?: string;
  /**
   * Same as in `ToolSpec`: results are stored by salted hash; branches of one transaction may use
   * the tool on one scope concurrently.
   */
  readonly sensitive?: boolean;
  readonly parallel?: boolean;
}

/**
 * The tools and functions that declarations may call by name. A function receives arguments, key
 * and signal.
 */
export interface Callables {
  readonly [name: string]: Tool | ((args: any, call: CallContext) => unknown);
}

/** A copy, so a declaration can't change after its check. */
const JSON_VALUE = z.unknown().transform((value, problems) => {
  try {
    return copyJson(value, { foreign: true });
  } catch (error) {
    problems.addIssue({ code: 'custom', message: (error as Error).message });
    return z.NEVER;
  }
});
const AMOUNTS = z.record(z.string(), z.int().nonnegative());
const CALLED = z.strictObject({ call: z.string(), args: JSON_VALUE.optional() });
const DECLARATION = z.strictObject({
  name: z.string(),
  description: z.string().optional(),
  input: z.union([
    z.custom<z.ZodType>(
      (value) => value instanceof z.ZodType,
      'a JSON Schema of an object, or a zod schema',
    ),
    z.looseObject({ type: z.literal('object') }),
  ]),
  class: z.unknown().optional(),
  reads: z.array(z.string()).optional(),
  writes: z.array(z.string()).optional(),
  key: z.string().optional(),
  execute: CALLED,
  compensate: CALLED.optional(),
  mitigate: CALLED.optional(),
  reconcile: CALLED.optional(),
  uncompensated: z.string().optional(),
  cost: AMOUNTS.optional(),
  undoCost: AMOUNTS.optional(),
  channel: z.string().optional(),
  sensitive: z.boolean().optional(),
  parallel: z.boolean().optional(),
});

/**
 * The tool of a declaration. An invalid declaration is refused before any call.
 *
 * @throws EffectError `invalid_tool`, naming the tool, the invalid part and the remedy
 */
export function declaredTool(
  declaration: ToolDeclaration | (Omit<ToolDeclaration, 'input'> & { readonly input: z.ZodType }),
  callables: Callables,
): Tool {
  const read = readOptions(DECLARATION, declaration) as unknown as ToolDeclaration;
  const { name, description, class: sort, reads, writes, key = '{key}', uncompensated } = read;
  const { cost, undoCost, channel, sensitive, parallel } = read;
  if (sort === undefined) throw invalidTool(name, compensationWithout(read));
  const { schema, members } = inputOf(name, read.input);
  requireScopes(name, [...(reads ?? []), ...(writes ?? [])], members);
  const problem = keyProblem(key, members, { isUndone: read.compensate !== undefined });
  if (problem !== undefined) throw invalidTool(name, problem);
  const start = keyStart(key);
  const calls: KeyedCall[] = [];
  const maker = (part: Part): Caller | undefined => {
    const target = targetOf(read, part, callables);
    if (target === undefined) return undefined;
    const contradiction = contradictionWith(part, sort, target);
    if (contradiction !== undefined) throw invalidTool(name, contradiction);
    calls.push(
      ...keyedCalls(part, read[part]!.call, target, {
        ...start,
        text: PREFIXES[part] + start.text,
      }),
    );
    const caller = callerOf(read, part, target, members);
    return (sources, call) =>
      caller(sources, { ...call, key: PREFIXES[part] + filledKey(key, sources.input, call.key) });
  };
  const execute = maker('execute')!;
  const compensate = maker('compensate');
  const mitigate = maker('mitigate');
  const reconcile = maker('reconcile');
  const spec: ToolSpec & { readonly [CALLS]: readonly KeyedCall[] } = {
    name,
    input: schema.check(({ value, issues }) => {
      const problem = unfit(read, key, value as Json);
      if (problem !== undefined) issues.push({ code: 'custom', message: problem, input: value });
    }),
    class: sort,
    ...(description === undefined ? {} : { description }),
    ...(reads === undefined ? {} : { reads }),
    ...(writes === undefined ? {} : { writes }),
    ...(uncompensated === undefined ? {} : { uncompensated }),
    ...(cost === undefined ? {} : { cost: () => cost }),
    ...(undoCost === undefined ? {} : { undoCost: () => undoCost }),
    ...(channel === undefined ? {} : { channel }),
    ...(sensitive === undefined ? {} : { sensitive }),
    ...(parallel === undefined ? {} : { parallel }),
    conflictWith: (other) => keyConflict(name, calls, other),
    [CALLS]: calls,
    execute: (given, call) => execute({ input: given as Json }, call),
    ...(compensate === undefined
      ? {}
      : {
          compensate: async (given: unknown, result: unknown, call: CallContext) =>
            undoneBy(await compensate({ input: given as Json, result: result as Json }, call)),
        }),
    ...(mitigate === undefined
      ? {}
      : {
          mitigate: (given: unknown, residue: unknown, call: CallContext) =>
            mitigate({ input: given as Json, residue: residue as Json }, call),
        }),
    ...(reconcile === undefined
      ? {}
      : {
          reconcile: async (given: unknown, call: CallContext) =>
            reconciledBy(await reconcile({ input: given as Json }, call)),
        }),
  };
  return declareTool(spec);
}

const PARTS = ['execute', 'compensate', 'mitigate', 'reconcile'] as const;

/**
 * Why a call can't be made with that input, or undefined. The check runs early, because planned
 * calls and compensations run when a refusal comes too late.
 */
function unfit(declaration: ToolDeclaration, key: string, input: Json): string | undefined {
  try {
    filledKey(key, input, '');
    for (const part of PARTS) requireFrom(declaration[part]?.args ?? null, input);
    return undefined;
  } catch (error) {
    if (isInstance(error, DidNothing)) return error.message;
    throw error;
  }
}

/** A sink must not confuse a call about an effect with the effect itself. Each has its own key. */
const PREFIXES: Readonly<Record<Part, string>> = {
  execute: '',
  compensate: 'undo-',
  mitigate: 'mitigate-',
  reconcile: '',
};

/**
 * The tools of several declarations. No two tools share a name, or may share a key at the same
 * callable.
 *
 * @throws EffectError `invalid_tool`
 */
export function declaredTools(
  declarations: readonly ToolDeclaration[],
  callables: Callables,
): Tool[] {
  if (!Array.isArray(declarations)) throw invalidTool('?', 'the declarations must be a list');
  const tools = Array.from(declarations, (each) => declaredTool(each, callables));
  for (const [n, tool] of tools.entries()) {
    for (const other of tools.slice(0, n)) {
      if (tool.name === other.name)
        throw invalidTool(tool.name, 'another declaration has this name');
      const problem = tool.spec.conflictWith!(other);
      if (problem !== undefined) throw invalidTool(tool.name, problem);
    }
  }
  return tools;
}

/**
 * The extent of a compensation. The callable may be any function or tool, and a failure is a thrown
 * error. If the answer has `undone`, its statement counts, and the runtime refuses unknown words.
 */
function undoneBy(said: unknown): CompensationResult {
  return isRecord(said) && 'undone' in said
    ? (said as unknown as CompensationResult)
    : { undone: 'all' };
}

const HAPPENED = z.union([
  z.strictObject({ happened: z.literal(true), result: z.json().default(null) }),
  z.strictObject({ happened: z.literal(false) }),
]);

/** @throws TypeError for any other answer, in which `happened` may describe something else */
function reconciledBy(said: unknown): ReconcileResult {
  const read = HAPPENED.safeParse(said);
  if (read.success) return read.data as ReconcileResult;
  throw new TypeError(
    'the reconciliation must answer { happened: true, result } or { happened: false }, without other fields',
  );
}

function compensationWithout({ compensate }: ToolDeclaration): string {
  return compensate === undefined
    ? "it has no class. Set 'read', or reversibility, delivery and sink"
    : 'it has a compensation without a class. Set reversibility, delivery and sink';
}

/** The zod schema of an input, and the fields that the input has. */
function inputOf(
  name: string,
  input: unknown,
): { readonly schema: z.ZodType; readonly members: ReadonlySet<string> } {
  if (input instanceof z.ZodType)
    return { schema: input, members: membersIn(jsonSchemaOf(name, input)) };
  let json: Json;
  try {
    json = copyJson(input, { foreign: true });
  } catch (cause) {
    throw invalidTool(
      name,
      `its input is not a JSON Schema: ${(cause as Error).message.replace(/\.$/, '')}`,
      cause,
    );
  }
  const { unusable, faultOf } = compiled(json, { isOnlyCheck: true });
  if (faultOf === undefined) throw invalidTool(name, `its input cannot be used: ${unusable}`);
  const schema = JSON_VALUE.transform((value, problems) => {
    const message = faultOf(value);
    if (message === undefined) return value;
    problems.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
  return { schema, members: membersIn(json as ReadSchema) };
}

function jsonSchemaOf(name: string, input: z.ZodType): ReadSchema {
  try {
    return z.toJSONSchema(input, { io: 'output', unrepresentable: 'any' }) as ReadSchema;
  } catch (cause) {
    throw invalidTool(
      name,
      `the fields of its input cannot be read: ${(cause as Error).message}`,
      cause,
    );
  }
}

/** The parts of a JSON Schema from which fields are read. */
interface ReadSchema {
  readonly $ref?: string;
  readonly properties?: object;
  readonly required?: readonly string[];
  readonly anyOf?: readonly ReadSchema[];
  readonly oneOf?: readonly ReadSchema[];
  readonly allOf?: readonly ReadSchema[];
}

/**
 * The fields of an object. For alternatives, the fields that every alternative has and requires.
 */
function membersIn(
  schema: ReadSchema,
  root: ReadSchema = schema,
  isAlternative: boolean = false,
  around: readonly ReadSchema[] = [],
): ReadonlySet<string> {
  if (typeof schema !== 'object' || schema === null || around.includes(schema)) return new Set();
  const { $ref, properties = {}, required = [], anyOf = [], oneOf = [], allOf = [] } = schema;
  const within = (each: ReadSchema, isOne: boolean): ReadonlySet<string> =>
    membersIn(each, root, isOne, [...around, schema]);
  const own = Object.keys(properties).filter((name) => !isAlternative || required.includes(name));
  const common = [anyOf, oneOf].flatMap((choice) => {
    const [first, ...others] = choice.map((each) => within(each, true));
    return [...(first ?? [])].filter((name) => others.every((each) => each.has(name)));
  });
  const all = $ref === undefined ? allOf : [...allOf, referredTo($ref, root)];
  return new Set([...own, ...common, ...all.flatMap((each) => [...within(each, isAlternative)])]);
}

/** The part of a schema that a JSON pointer names. Another reference adds no fields. */
function referredTo($ref: string, root: ReadSchema): ReadSchema {
  const parts = $ref.split('/').slice(1);
  const part = (text: string): string =>
    decodeURIComponent(text).replaceAll('~1', '/').replaceAll('~0', '~');
  return $ref.startsWith('#') ? parts.reduce<any>((at, name) => at?.[part(name)], root) : {};
}

function requireScopes(
  name: string,
  scopes: readonly string[],
  members: ReadonlySet<string>,
): void {
  for (const scope of scopes) {
    for (const [, member] of scope.matchAll(/\{([^{}]*)\}/g))
      if (!members.has(member as string))
        throw invalidTool(
          name,
          `the scope ${JSON.stringify(scope)} names ${member}, which is not a field of the input`,
        );
  }
}

type Caller = (sources: Sources, call: CallContext) => Promise<unknown>;
type Target = Callables[string];

function targetOf(
  declaration: ToolDeclaration,
  part: Part,
  callables: Callables,
): Target | undefined {
  const name = declaration[part]?.call;
  if (name === undefined) return undefined;
  const target =
    isRecord(callables) && Object.hasOwn(callables, name) ? callables[name] : undefined;
  if (typeof target === 'function' || typeof target?.spec?.execute === 'function') return target;
  throw invalidTool(
    declaration.name,
    `its ${part} calls ${JSON.stringify(name)}, which is neither a tool nor a function here`,
  );
}

/**
 * Why a tool can't be called for a part, by its own declaration, or undefined. The effects of a
 * plain function are unknown.
 */
function contradictionWith(
  part: Part,
  sort: ToolSpec['class'],
  target: Target,
): string | undefined {
  if (typeof target === 'function' || target.class === undefined) return undefined;
  const { name, class: its } = target;
  if (part === 'reconcile' || sort === 'read')
    return `its ${part} must only read, but calls ${name}, which has effects`;
  // The call would be repeated after a lost answer.
  if (part === 'mitigate')
    return sort?.sink !== 'blind' && its.sink === 'blind'
      ? `its mitigate calls ${name}, whose sink is blind: a lost answer would repeat the effect. Call a tool with a keyed or queryable sink`
      : undefined;
  if (sort?.sink !== 'keyed' || its.sink === 'keyed') return undefined;
  return `its sink is keyed, but its ${part} calls ${name}, whose sink is ${its.sink}. Declare the same sink for both`;
}

/** The sources from which a part may take its arguments. */
const SOURCES: Readonly<Record<Part, readonly (keyof Sources)[]>> = {
  execute: ['input'],
  compensate: ['input', 'result'],
  mitigate: ['input', 'residue'],
  reconcile: ['input'],
};

function callerOf(
  declaration: ToolDeclaration,
  part: Part,
  target: Target,
  members: ReadonlySet<string>,
): Caller {
  const { args = { $from: '/input' } } = declaration[part]!;
  const problem = mappingProblem(args, SOURCES[part], members);
  if (problem !== undefined)
    throw invalidTool(declaration.name, `its ${part} cannot be called: ${problem}`);
  return async (sources, call) => {
    const made = mapped(args, sources);
    if (typeof target === 'function') return target(made, call);
    const done = part === 'mitigate' ? await doneBefore(target, made, call) : undefined;
    return done === undefined ? target.spec.execute(fitting(target, made), call, []) : done.result;
  };
}

/**
 * A mitigation is retried with the compensation, and no reconciliation queries it. A queryable sink
 * is therefore queried first.
 */
async function doneBefore(
  target: Tool,
  args: Json,
  call: CallContext,
): Promise<{ readonly result: unknown } | undefined> {
  const { name, spec } = target;
  if (spec.reconcile === undefined) return undefined;
  const said = await spec.reconcile(fitting(target, args), call);
  if (said?.happened === true) return said;
  if (said?.happened === false) return undefined;
  throw new TypeError(`${name} does not answer whether the effect happened`);
}

/** @throws DidNothing if the arguments do not fit the called tool; it was not called */
function fitting(tool: Tool, args: Json): any {
  try {
    return tool.parse(args);
  } catch (error) {
    if (!isInstance(error, EffectError)) throw error;
    throw new DidNothing(error.message, { final: true, cause: error });
  }
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
