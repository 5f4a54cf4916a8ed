import { z } from 'zod';
import { type Amounts, isToolName, segment } from '#authority';
import {
  arg,
  isAssizeError,
  isUnwantedPromise,
  type Json,
  markOwnPackage,
  requireOwnPackage,
  toError,
} from '#base';
import {
  copyJson,
  DEFAULT_LIMITS,
  issueText,
  issueWords,
  type Misfit,
  misfitsOf,
  parseBySchema,
} from '#canon';
import { type AtomicBatch, batchProblem, type StagedReads } from './atomic-batch.ts';
import type { CallContext, CompensationResult } from './call.ts';
import { EffectError } from './errors.ts';
import {
  type Delivery,
  type EffectClass,
  isPivot,
  type Reversibility,
  type Sink,
} from './protocol.ts';
import { type Access, type Claim, readClaim } from './scopes.ts';

/**
 * The buffered effects of a transaction, in call order, for reads that must see their own writes.
 */
export type PlannedCalls = readonly { readonly tool: string; readonly input: Json }[];
/** The sink's answer about a key. */
export type ReconcileResult =
  | { readonly happened: true; readonly result: Json }
  | { readonly happened: false };

/**
 * Resources in the grammar of scopes: fixed, with `{member}` for a field of the input, or a
 * function of the input.
 */
export type Scopes<Input> = readonly string[] | ((input: Input) => readonly string[]);

/**
 * The declaration of a tool. Every guarantee for effects depends on a correct class (Atomix §3.4;
 * docs/decisions/016-effect-outcomes.md).
 */
export interface ToolSpec<Schema extends z.ZodType = z.ZodType> {
  /** The name in writs and policies: `files.write`. */
  readonly name: string;
  readonly description?: string;
  readonly input: Schema;
  /** `read`: changes nothing, and may be called at any time and repeated. */
  readonly class:
    | 'read'
    | { readonly reversibility: Reversibility; readonly delivery: Delivery; readonly sink: Sink };
  /**
   * The effect log stores scopes permanently, and no erasure removes them. Use ids in scopes, never
   * content.
   */
  readonly reads?: Scopes<z.infer<Schema>>;
  /** Same form as `reads`. */
  readonly writes?: Scopes<z.infer<Schema>>;
  /** The caller's answer while the effect is only planned. Default: null. */
  readonly plan?: (input: z.infer<Schema>, planned: PlannedCalls) => unknown;
  /**
   * Executes the effect. Throws `DidNothing` if certainly nothing happened. Any other error counts
   * as a lost answer.
   */
  readonly execute: (input: z.infer<Schema>, call: CallContext, planned: PlannedCalls) => unknown;
  /** Compensates the effect if its result is unchanged. Must be safe to repeat under one key. */
  readonly compensate?: (
    input: z.infer<Schema>,
    result: any,
    call: CallContext,
  ) => Promise<CompensationResult> | CompensationResult;
  /**
   * Handles the residue of a compensation: a cancellation by mail for a booking that stands is one
   * example. Called after each compensation with residue, under the same key, and must be safe to
   * repeat. The answer is stored with the residue.
   *
   * If it fails, the compensation counts as failed and both are retried. For a blind sink, a human
   * decides instead. It is not called if the answer to the compensation was lost and the residue is
   * unknown (docs/decisions/016-effect-outcomes.md; Atomix §3.2).
   */
  readonly mitigate?: (input: z.infer<Schema>, residue: any, call: CallContext) => unknown;
  /**
   * For a queryable sink: whether the effect of that key has happened. After a compensation the
   * answer must be "no".
   */
  readonly reconcile?: (
    input: z.infer<Schema>,
    call: CallContext,
  ) => Promise<ReconcileResult> | ReconcileResult;
  /**
   * The reason why a reversible effect has no compensation. The effect is left in place and listed
   * for review.
   */
  readonly uncompensated?: string;
  /**
   * The result is stored by salted hash and can be erased. The input is always stored in this way.
   */
  readonly sensitive?: boolean;
  /**
   * Whether branches of one transaction, and their parents, may use the tool at the same place
   * concurrently. Set it if the tool isolates their effects, or reads and is meant to see them.
   */
  readonly parallel?: boolean;
  /**
   * For a pivot: the kind of counselor that approves it, in addition to the kinds that the action
   * and the domain's rules name. Default: only these kinds, or any counselor if there are none.
   */
  readonly channel?: string;
  /** The cost, by unit of the writ's budget. */
  readonly cost?: (input: z.infer<Schema>) => Amounts;
  /**
   * The cost of compensation, for the class `with_cost`. An effect that executes immediately
   * reserves the cost until the commit, and a compensation spends it
   * (docs/decisions/016-effect-outcomes.md).
   */
  readonly undoCost?: (input: z.infer<Schema>) => Amounts;
  /** For a buffered effect at a keyed sink: batches the effect with others at the same place. */
  readonly batch?: AtomicBatch;
  /** For a read tool: the place at which it sees its transaction's staged writes. */
  readonly readsStaged?: StagedReads;
  /**
   * The reason why this tool cannot be used together with another tool, or undefined. Called for
   * all tools of a runtime. Return a reason if both tools call the same function under one key.
   */
  readonly conflictWith?: (other: Tool) => string | undefined;
}

/** A tool ready for use, made by `declareTool`. Immutable. */
export interface Tool<Input = any, Parsed = any> {
  readonly name: string;
  readonly spec: ToolSpec<any>;
  /** Undefined for a read tool. */
  readonly class: EffectClass | undefined;
  /**
   * Parses the input and returns the recorded copy. Each function of the declaration receives its
   * own copy. @throws EffectError `bad_input`
   */
  parse(input: unknown): Json;
  /** The claims of a call. @throws EffectError `bad_input` for an input with invalid scopes */
  claims(input: Json): readonly Claim[];
  /** Types only: the field never exists at run time. `input`: before parsing. */
  readonly types?: { readonly input: Input; readonly parsed: Parsed };
}

/** The form of a counselor kind in a domain. */
const CHANNEL = /^[A-Za-z][A-Za-z0-9_-]*$/;
const CLASS_FIELDS = arg.known<EffectClass>({ delivery: true, reversibility: true, sink: true });
const CLASS = arg.members({
  delivery: arg.oneOf(['buffered', 'externalised']),
  reversibility: arg.oneOf(['reversible', 'with_cost', 'irreversible']),
  sink: arg.oneOf(['keyed', 'queryable', 'blind']),
});

/**
 * Validates a declaration and prepares it for use. A declaration is a plain object, because unknown
 * or misspelled fields of a class instance could not be detected. An undefined field counts as
 * absent. Later changes of the object do not affect the tool.
 *
 * @throws EffectError `invalid_tool`, with the tool, the problem and the fix
 */
export function declareTool<Schema extends z.ZodType>(
  spec: ToolSpec<Schema>,
): Tool<z.input<Schema>, z.output<Schema>> {
  if (typeof spec !== 'object' || spec === null)
    throw invalid(String(spec), 'its declaration must be an object');
  const name = String(spec.name);
  if (!isToolName(spec.name) || name.startsWith('assize.')) {
    throw invalid(
      name,
      'its name must be lower-case words joined by dots, such as files.write, and not start with assize',
    );
  }
  if (!(spec.input instanceof z.ZodType)) throw invalid(name, 'its input must be a zod schema');
  if (typeof spec.execute !== 'function') throw invalid(name, 'it has no execute');
  checkMembers(name, spec);
  const sort = classOf(name, spec);
  const declared = copyOf(spec, sort);
  checkParts(name, declared, sort);
  const members = inputMembers(declared.input);
  const reads = scopesOf(name, 'reads', declared.reads, members);
  const writes = scopesOf(name, 'writes', declared.writes, members);
  const made = {
    name,
    spec: declared,
    class: sort,
    parse: (input: unknown) => parsed(name, declared.input, input),
    claims: (input: Json) => [
      ...claimsOf(name, 'read', reads, input),
      ...claimsOf(name, 'write', writes, input),
    ],
  };
  return Object.freeze(markOwnPackage(made));
}

/**
 * Refuses a tool from another copy of the package: that copy may have other guarantees.
 *
 * @throws DuplicatePackageError `duplicate_package`
 */
export function requireOwnTool(tool: Tool): void {
  requireOwnPackage(tool, `The tool ${tool?.name}`);
}

/**
 * The allowed fields of a declaration, with their types. A misspelled field would have no effect.
 */
const MEMBERS: Readonly<Record<keyof ToolSpec, 'text' | 'function' | 'true or false' | 'any'>> = {
  name: 'text',
  description: 'text',
  input: 'any',
  class: 'any',
  reads: 'any',
  writes: 'any',
  plan: 'function',
  execute: 'function',
  compensate: 'function',
  mitigate: 'function',
  reconcile: 'function',
  uncompensated: 'text',
  sensitive: 'true or false',
  parallel: 'true or false',
  channel: 'any',
  cost: 'any',
  undoCost: 'any',
  batch: 'any',
  readsStaged: 'any',
  conflictWith: 'function',
};

function checkMembers(name: string, spec: ToolSpec<any>): void {
  if (!isPlain(spec))
    throw invalid(name, 'its declaration must be a plain object, not an instance of a class');
  for (const [member, value] of Object.entries(spec)) {
    if (value !== undefined && !Object.hasOwn(MEMBERS, member))
      throw invalid(
        name,
        `a tool has no field ${JSON.stringify(member)}; the fields are ${Object.keys(MEMBERS).join(', ')}`,
      );
  }
  for (const [member, sort] of Object.entries(MEMBERS)) {
    // Inherited fields count too, because calls use them.
    const value = spec[member as keyof ToolSpec];
    if (value === undefined) continue;
    if (sort === 'function' && !isFunction(value))
      throw invalid(name, `its ${member} must be a function`);
    if (sort === 'text' && typeof value !== 'string')
      throw invalid(name, `its ${member} must be a string`);
    if (sort === 'true or false' && typeof value !== 'boolean')
      throw invalid(name, `its ${member} must be true or false`);
  }
}

/**
 * Copies the declaration. A caller may change the object for the next tool, and the change must not
 * affect the tool checked here. Symbol fields, as data tools have, are copied too.
 */
function copyOf<Schema extends z.ZodType>(
  spec: ToolSpec<Schema>,
  sort: EffectClass | undefined,
): ToolSpec<Schema> {
  const parts = Object.keys(MEMBERS).map(
    (member) => [member, spec[member as keyof ToolSpec]] as const,
  );
  const declared: Record<string, unknown> = Object.fromEntries(
    parts.filter(([, part]) => part !== undefined),
  );
  for (const member of ['reads', 'writes', 'batch', 'readsStaged']) {
    const part = declared[member];
    if (Array.isArray(part)) declared[member] = Object.freeze([...part]);
    else if (isPlain(part)) declared[member] = Object.freeze({ ...part });
  }
  return Object.freeze({ ...spec, ...declared, class: sort ?? 'read' });
}

/** Includes plain objects of another realm. */
function isPlain(spec: unknown): spec is object {
  if (typeof spec !== 'object' || spec === null) return false;
  const proto: unknown = Object.getPrototypeOf(spec);
  return proto === null || Object.getPrototypeOf(proto) === null;
}

function classOf(name: string, spec: ToolSpec<any>): EffectClass | undefined {
  if (spec.class === 'read') return undefined;
  // The copy is checked: a field of the caller may change.
  const { delivery, reversibility, sink } = Object(spec.class) as EffectClass;
  const read = Object.freeze({ delivery, reversibility, sink });
  const unfit = CLASS_FIELDS(spec.class) ?? CLASS(read);
  if (unfit !== undefined) {
    const what = `class${unfit.at} must be ${unfit.wanted}`;
    throw invalid(
      name,
      `its class must be 'read', or have reversibility, delivery and sink (${what})`,
    );
  }
  return read;
}

function checkParts(name: string, spec: ToolSpec<any>, sort: EffectClass | undefined): void {
  const {
    compensate,
    mitigate,
    reconcile,
    uncompensated,
    writes,
    cost,
    undoCost,
    channel,
    batch,
    readsStaged,
  } = spec;
  const odd = batch === undefined ? undefined : batchProblem(batch, spec, sort);
  if (odd !== undefined) throw invalid(name, odd);
  if (
    readsStaged !== undefined &&
    (sort !== undefined || typeof readsStaged?.at !== 'object' || readsStaged.at === null)
  )
    throw invalid(name, '`readsStaged` needs the class `read` and an object `at`');
  const amounts = Object.entries({ cost, undoCost }).find(
    ([, part]) => !(part === undefined || isFunction(part)),
  );
  if (amounts !== undefined)
    throw invalid(name, `its ${amounts[0]} must be a function of the input that returns amounts`);
  if (channel !== undefined && (sort === undefined || !isPivot(sort)))
    throw invalid(name, 'only an irreversible, externalised tool can have a channel');
  if (
    channel !== undefined &&
    !(typeof channel === 'string' && CHANNEL.test(channel) && channel !== 'any')
  )
    throw invalid(name, 'its channel must be a counselor kind of the domain');
  if (sort === undefined) {
    const parts = { compensate, mitigate, reconcile, uncompensated, writes, undoCost };
    const odd = Object.entries(parts).find(([, part]) => part !== undefined);
    if (odd !== undefined)
      throw invalid(
        name,
        `it only reads, so it cannot have ${odd[0]}; declare the class of its effect`,
      );
    return;
  }
  if (writes === undefined || (Array.isArray(writes) && writes.length === 0))
    throw invalid(name, 'it must declare `writes`, because its class is not "read"');
  if ((sort.sink === 'queryable') !== (reconcile !== undefined)) {
    throw invalid(name, 'a queryable sink needs a reconcile, and no other sink has one');
  }
  if (mitigate !== undefined && compensate === undefined)
    throw invalid(name, 'a mitigate needs a compensate');
  if (undoCost !== undefined && sort.reversibility !== 'with_cost')
    throw invalid(name, `an undoCost needs the reversibility with_cost, not ${sort.reversibility}`);
  if (undoCost !== undefined && compensate === undefined)
    throw invalid(name, 'an undoCost needs a compensate');
  if (sort.reversibility === 'irreversible') {
    if (compensate !== undefined)
      throw invalid(name, 'an irreversible tool cannot have a compensate; declare it reversible');
    return;
  }
  if (compensate !== undefined && uncompensated !== undefined)
    throw invalid(name, 'it cannot have both compensate and uncompensated; leave one out');
  if (
    compensate === undefined &&
    !(typeof uncompensated === 'string' && uncompensated.trim() !== '')
  ) {
    throw invalid(
      name,
      `a ${sort.reversibility} tool needs a compensate; otherwise declare it irreversible, or give the reason in uncompensated`,
    );
  }
}

function isFunction(part: unknown): boolean {
  return typeof part === 'function';
}

/** Stands for input values that are not JSON. */
const FOREIGN = Object.freeze({ foreign: true });

function parsed(name: string, schema: z.ZodType, input: unknown): Json {
  let read: ReturnType<typeof parseBySchema<unknown>>;
  try {
    read = parseBySchema(schema, input, { error: issueWords });
  } catch (error) {
    // A schema can be asynchronous, or throw.
    throw threw(name, 'its schema failed', error);
  }
  if (!read.success) throw badInput(name, issueText(read.error), undefined, misfitsOf(read.error));
  try {
    return copyJson(read.data, FOREIGN);
  } catch (error) {
    // The caller of a tool cannot raise that limit.
    const isTooLarge = isAssizeError(error, 'too_large');
    const tooLarge = `as JSON it has more than ${DEFAULT_LIMITS.bytesMax} bytes; pass less at a time`;
    throw badInput(
      name,
      isTooLarge ? tooLarge : (error as Error).message.replace(/\.$/, ''),
      error,
    );
  }
}

type Template = (input: Json) => readonly string[];

/** Parses fixed scopes now, so that an invalid one is found before any call. */
function scopesOf(
  name: string,
  member: 'reads' | 'writes',
  scopes: Scopes<any> = [],
  members: ReadonlySet<string> | undefined,
): Template {
  if (typeof scopes === 'function') return (input) => declaredScopes(name, member, scopes, input);
  if (!Array.isArray(scopes))
    throw invalid(
      name,
      `${member} must be a list of scopes, or a function of the input that returns one`,
    );
  for (const scope of scopes) {
    const problem =
      typeof scope === 'string' ? templateProblem(scope, members) : 'it is not a string';
    if (problem !== undefined)
      throw invalid(
        name,
        `the scope ${typeof scope === 'string' ? JSON.stringify(scope) : typeof scope} of ${member} does not parse: ${problem}`,
      );
  }
  const parts = scopes.map(partsOf);
  return (input) => parts.map((each) => filled(name, each, input));
}

/** A write tool must declare scopes: without claims it never waits, and no writ is checked. */
function declaredScopes(
  name: string,
  member: 'reads' | 'writes',
  scopes: (input: any) => readonly string[],
  input: Json,
): readonly string[] {
  let told: readonly string[];
  try {
    told = scopes(copyJson(input));
  } catch (error) {
    throw threw(name, `its ${member} function failed`, error);
  }
  if (isUnwantedPromise(told) || !Array.isArray(told))
    throw badInput(name, `its ${member} function must return a list`);
  if (member === 'writes' && told.length === 0)
    throw badInput(name, 'its writes function must return at least one scope');
  return told;
}

function templateProblem(
  scope: string,
  members: ReadonlySet<string> | undefined,
): string | undefined {
  const stray = [...scope.matchAll(MEMBER)].find(
    ([, member]) => members?.has(member as string) === false,
  );
  if (stray !== undefined) return `its input has no field ${stray[1]}`;
  const filled = scope.replaceAll(MEMBER, 'x');
  if (/[{}]/.test(filled)) return 'braces must enclose the name of an input field';
  return problemOf(filled);
}

/** The possible fields of an input. Undefined if the schema is open. */
export function inputMembers(input: z.ZodType): ReadonlySet<string> | undefined {
  if (!(input instanceof z.ZodObject)) return undefined;
  const { catchall } = input.def;
  const isClosed = catchall === undefined || catchall instanceof z.ZodNever;
  return isClosed ? new Set(Object.keys(input.shape)) : undefined;
}

const MEMBER = /\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** A scope, split at the input fields that it names. */
interface Parts {
  readonly scope: string;
  readonly members: readonly string[];
  /** The text before each field, and after the last one. */
  readonly between: readonly string[];
}

function partsOf(scope: string): Parts {
  const found = scope.split(MEMBER);
  return {
    scope,
    members: found.filter((_, i) => i % 2 === 1),
    between: found.filter((_, i) => i % 2 === 0),
  };
}

function filled(name: string, { scope, members, between }: Parts, input: Json): string {
  let text = between[0]!;
  for (let i = 0; i < members.length; i++) {
    const member = members[i]!;
    const value = (input as Record<string, unknown> | null)?.[member];
    if (typeof value !== 'string' && typeof value !== 'number')
      throw badInput(name, `the scope ${scope} needs ${member}, a string or a number`);
    text += segment(String(value)) + between[i + 1]!;
  }
  return text;
}

function claimsOf(name: string, access: Access, template: Template, input: Json): Claim[] {
  return template(input).map((text) => {
    try {
      return readClaim(access, text);
    } catch (error) {
      const { message } = error as Error;
      throw badInput(
        name,
        `it would access ${JSON.stringify(text)}, which is not a scope: ${message}`,
        error,
      );
    }
  });
}

function problemOf(scope: string): string | undefined {
  try {
    readClaim('read', scope);
    return undefined;
  } catch (error) {
    // The message is embedded in a sentence.
    return (error as Error).message.replace(/\.$/, '');
  }
}

function invalid(name: string, what: string): EffectError {
  return new EffectError('invalid_tool', `The tool ${name} is not valid: ${what}.`, {
    evidence: { tool: name },
  });
}

/** Wraps an error from the declaration's code. That code may throw any value. */
function threw(name: string, what: string, thrown: unknown): EffectError {
  const cause = toError(thrown);
  return badInput(
    name,
    `${what}: ${cause instanceof Error ? cause.message : 'it threw a value that is not an error'}`,
    cause,
  );
}

function badInput(
  name: string,
  what: string,
  cause?: unknown,
  findings?: readonly Misfit[],
): EffectError {
  return new EffectError('bad_input', `The input of ${name} is not valid: ${what}.`, {
    evidence: { tool: name, ...(findings && { findings }) },
    cause,
  });
}
