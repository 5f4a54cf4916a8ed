import { z } from 'zod';
import { type Amounts, segment } from '#authority';
import { isAssizeError, type Json, madeHere, requireMadeHere, thrownOf } from '#base';
import { copyJson, DEFAULT_LIMITS, issueText, issueWords } from '#canon';
import type { Call, Undone } from './call.ts';
import { EffectError } from './errors.ts';
import { type Delivery, type EffectClass, isPivot, type Reversibility, type Sink } from './protocol.ts';
import { type Access, type Claim, readClaim } from './scopes.ts';
import { problemOfTogether, type Sees, type Together } from './together.ts';

/** What a transaction will do when it commits, in the order of its calls: for reads that are to see their own writes. */
export type Planned = readonly { readonly tool: string; readonly input: Json }[];
/** What a sink says of a key. */
export type Reconciled = { readonly happened: true; readonly result: Json } | { readonly happened: false };

/** Resources as texts of the grammar of scopes: fixed, with `{member}` for a part of the input, or a function of it. */
export type Scopes<Input> = readonly string[] | ((input: Input) => readonly string[]);

/**
 * A tool as it is declared. What it does is its own; what it is has to be right, because all that is promised of effects follows
 * from it (seed 003 §3.4; decisions §5).
 */
export interface ToolSpec<Schema extends z.ZodType = z.ZodType> {
  /** As writs and policies name it: `files.write`. */
  readonly name: string;
  readonly description?: string;
  readonly input: Schema;
  /** `read`: changes nothing anywhere, and may be called at any time, and again. */
  readonly class: 'read' | { readonly reversibility: Reversibility; readonly delivery: Delivery; readonly sink: Sink };
  /** Scopes stand in the effect log for good, where no erasure reaches them: they are of ids, and no content. */
  readonly reads?: Scopes<z.infer<Schema>>;
  /** As `reads`. */
  readonly writes?: Scopes<z.infer<Schema>>;
  /** What the caller is answered while the effect is only planned; by default null. */
  readonly plan?: (input: z.infer<Schema>, planned: Planned) => unknown;
  /** Does it. Throws `DidNothing` where it is certain that nothing was done; anything else is taken for a lost answer. */
  readonly execute: (input: z.infer<Schema>, call: Call, planned: Planned) => unknown;
  /** Undoes what was done, if it still stands as it was left; safe to repeat under one key. */
  readonly compensate?: (input: z.infer<Schema>, result: any, call: Call) => Promise<Undone> | Undone;
  /**
   * What is done about what could not be taken back, as a cancellation by mail where the booking stands: called after each compensation
   * that leaves a residue, under the same key, so it is safe to repeat. What it answers is kept with the residue. Where it fails, the
   * compensation counts as failed and both are made again, but for a blind sink, which a person looks at. Where nobody knows what was
   * left, because the answer to the compensation was lost, it is not called (decisions §5.7; seed 003 §3.2).
   */
  readonly mitigate?: (input: z.infer<Schema>, residue: any, call: Call) => unknown;
  /** Of a queryable sink: whether the effect of that key has happened. Asked again after a compensation, it has not. */
  readonly reconcile?: (input: z.infer<Schema>, call: Call) => Promise<Reconciled> | Reconciled;
  /** Why something reversible has no compensation: it is then let be, and listed for review. */
  readonly uncompensated?: string;
  /** What it answers is kept by salted hash, and may be erased. What it is given always is. */
  readonly sensitive?: boolean;
  /**
   * Whether branches of one transaction, and what they are branches of, may use it at the same place at once: it keeps what they do apart,
   * or, where it reads, is meant to see it.
   */
  readonly parallel?: boolean;
  /**
   * Of what can be neither undone nor held: the kind of counselor who approves it, besides those that the action and the rules of the
   * domain name. By default there are only these, or whoever is a counselor.
   */
  readonly channel?: string;
  /** What it costs, by unit of the writ's budget. */
  readonly cost?: (input: z.infer<Schema>) => Amounts;
  /**
   * What undoing it costs, of what is reversible with cost: reserved in the budget where it acts at once, until the commit, and
   * spent when it was compensated (decisions §5.7).
   */
  readonly undoCost?: (input: z.infer<Schema>) => Amounts;
  /** Of what is held until the commit, at a keyed sink: what makes one step of it and of others at the same place. */
  readonly together?: Together;
  /** Of what only reads: at which place it sees what its transaction holds there. */
  readonly sees?: Sees;
  /**
   * Why it can't be used beside that other tool, or undefined: asked about all that a runtime is given with it. A declared tool says so
   * of one that calls the same function, where both may do so under one key.
   */
  readonly problemBeside?: (other: Tool) => string | undefined;
}

/** A tool ready for use. Made by `declareTool`; immutable. */
export interface Tool {
  readonly name: string;
  readonly spec: ToolSpec<any>;
  /** Undefined for a tool that only reads. */
  readonly class: EffectClass | undefined;
  /** The input as it is recorded: parsed, and a copy. Each function of the declaration gets one of its own. @throws EffectError `bad_input` */
  parse(input: unknown): Json;
  /** What a call touches. @throws EffectError `bad_input` for an input whose scopes can't be read */
  claims(input: Json): readonly Claim[];
}

const NAME = /^[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*$/;
/** As a domain may name a kind of counselor. */
const CHANNEL = /^[A-Za-z][A-Za-z0-9_-]*$/;
const CLASS = z.strictObject({
  delivery: z.enum(['buffered', 'externalised']),
  reversibility: z.enum(['reversible', 'with_cost', 'irreversible']),
  sink: z.enum(['keyed', 'queryable', 'blind']),
});

/**
 * Checks a declaration and makes it ready for use. A declaration is a plain object: of a class nobody could tell what it has and what
 * is misspelled. A member that is undefined is as if it were not there. The tool is as it was declared, whatever the object becomes.
 *
 * @throws EffectError `invalid_tool`, naming the tool, what of it is wrong and what to do
 */
export function declareTool<Schema extends z.ZodType>(spec: ToolSpec<Schema>): Tool {
  if (typeof spec !== 'object' || spec === null) throw invalid(String(spec), 'a declaration is an object');
  const name = String(spec.name);
  if (typeof spec.name !== 'string' || !NAME.test(name) || name.startsWith('assize.')) {
    throw invalid(
      name,
      'its name has to be of lower-case words joined by dots, such as files.write, and not begin with assize',
    );
  }
  if (!(spec.input instanceof z.ZodType)) throw invalid(name, 'its input has to be a zod schema');
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
    claims: (input: Json) => [...claimsOf(name, 'read', reads, input), ...claimsOf(name, 'write', writes, input)],
  };
  return Object.freeze(madeHere(made));
}

/**
 * Refuses the tool of another copy of the package, which may keep its promises otherwise than this one counts on.
 *
 * @throws CopyError `other_copy`
 */
export function requireOwnTool(tool: Tool): void {
  requireMadeHere(tool, `The tool ${tool?.name}`);
}

/** What a declaration may have, and what sort each is; a member that is misspelled would promise nothing. */
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
  together: 'any',
  sees: 'any',
  problemBeside: 'function',
};

function checkMembers(name: string, spec: ToolSpec<any>): void {
  if (!isPlain(spec)) throw invalid(name, 'its declaration has to be a plain object, and no instance of a class');
  for (const [member, value] of Object.entries(spec)) {
    if (value !== undefined && !Object.hasOwn(MEMBERS, member))
      throw invalid(name, `a tool has no ${JSON.stringify(member)}; there are ${Object.keys(MEMBERS).join(', ')}`);
  }
  for (const [member, sort] of Object.entries(MEMBERS)) {
    // However it comes to have that: this is how it is used.
    const value = spec[member as keyof ToolSpec];
    if (value === undefined) continue;
    if (sort === 'function' && !isFunction(value)) throw invalid(name, `its ${member} has to be a function`);
    if (sort === 'text' && typeof value !== 'string') throw invalid(name, `its ${member} has to be a text`);
    if (sort === 'true or false' && typeof value !== 'boolean')
      throw invalid(name, `its ${member} has to be true or false`);
  }
}

/**
 * As it is declared now: one object may serve for the next tool, with another name and another `execute`, and what is changed in it would be
 * called under the name and the class that this one was checked with. What stands beside by a symbol, as with tools that are data, is copied too.
 */
function copyOf<Schema extends z.ZodType>(spec: ToolSpec<Schema>, sort: EffectClass | undefined): ToolSpec<Schema> {
  const parts = Object.keys(MEMBERS).map((member) => [member, spec[member as keyof ToolSpec]] as const);
  const declared = Object.fromEntries(parts.filter(([, part]) => part !== undefined));
  return Object.freeze({ ...spec, ...declared, class: sort ?? 'read' });
}

/** Also of another realm. */
function isPlain(spec: object): boolean {
  const proto: unknown = Object.getPrototypeOf(spec);
  return proto === null || Object.getPrototypeOf(proto) === null;
}

function classOf(name: string, spec: ToolSpec<any>): EffectClass | undefined {
  if (spec.class === 'read') return undefined;
  const read = CLASS.safeParse(spec.class, { error: issueWords });
  if (!read.success) {
    const what = issueText(read.error, ['class']);
    throw invalid(name, `its class is 'read', or has reversibility, delivery and sink (${what})`);
  }
  return Object.freeze(read.data);
}

function checkParts(name: string, spec: ToolSpec<any>, sort: EffectClass | undefined): void {
  const { compensate, mitigate, reconcile, uncompensated, writes, cost, undoCost, channel, together, sees } = spec;
  const odd = together === undefined ? undefined : problemOfTogether(together, spec, sort);
  if (odd !== undefined) throw invalid(name, odd);
  if (sees !== undefined && (sort !== undefined || typeof sees?.at !== 'object' || sees.at === null))
    throw invalid(name, 'it only reads, and names a place, where it sees what is held there (`sees`)');
  const amounts = Object.entries({ cost, undoCost }).find(([, part]) => !(part === undefined || isFunction(part)));
  if (amounts !== undefined)
    throw invalid(name, `its ${amounts[0]} has to be a function of the input that gives amounts`);
  if (channel !== undefined && (sort === undefined || !isPivot(sort)))
    throw invalid(
      name,
      'nobody is asked about it, so it has no channel; only what is irreversible and externalised has one',
    );
  if (channel !== undefined && !(typeof channel === 'string' && CHANNEL.test(channel) && channel !== 'any'))
    throw invalid(name, 'its channel is a kind of counselor, by the name that the domain has for it');
  if (sort === undefined) {
    const parts = { compensate, mitigate, reconcile, uncompensated, writes, undoCost };
    const odd = Object.entries(parts).find(([, part]) => part !== undefined);
    if (odd !== undefined)
      throw invalid(name, `it only reads, so it can't have ${odd[0]}; give it the class of what it does`);
    return;
  }
  if (writes === undefined || (Array.isArray(writes) && writes.length === 0))
    throw invalid(name, `it changes something, so it has to say what it writes`);
  if ((sort.sink === 'queryable') !== (reconcile !== undefined)) {
    throw invalid(name, 'a sink is queryable where there is a reconcile that asks it, and only there');
  }
  if (mitigate !== undefined && compensate === undefined)
    throw invalid(name, 'its mitigate is for what compensate leaves, and it has no compensate');
  if (undoCost !== undefined && sort.reversibility !== 'with_cost')
    throw invalid(name, `an undoCost is of what is reversible with_cost, and it is ${sort.reversibility}`);
  if (undoCost !== undefined && compensate === undefined)
    throw invalid(name, 'it says what undoing it costs, and has no compensate');
  if (sort.reversibility === 'irreversible') {
    if (compensate !== undefined)
      throw invalid(name, 'what is irreversible has no compensate; say reversible if it can be undone');
    return;
  }
  if (compensate !== undefined && uncompensated !== undefined)
    throw invalid(name, 'it has a compensate, so there is no reason why it is uncompensated; leave one of them out');
  if (compensate === undefined && !(typeof uncompensated === 'string' && uncompensated.trim() !== '')) {
    throw invalid(
      name,
      `what is ${sort.reversibility} has a compensate; without one, call it irreversible, or say in uncompensated why it may stay`,
    );
  }
}

function isFunction(part: unknown): boolean {
  return typeof part === 'function';
}

/** So many faults of an input are told at once, so that it is mended in one go. */
const FAULTS = 5;

/** An input may have been made of anything. */
const FOREIGN = Object.freeze({ foreign: true });

function parsed(name: string, schema: z.ZodType, input: unknown): Json {
  let read: z.ZodSafeParseResult<unknown>;
  try {
    read = schema.safeParse(input, { error: issueWords });
  } catch (error) {
    // As a schema does that takes its time, or throws.
    throw threw(name, 'its schema can’t tell', error);
  }
  if (!read.success) throw badInput(name, issueText(read.error, [], FAULTS));
  try {
    return copyJson(read.data, FOREIGN);
  } catch (error) {
    // Whoever calls a tool can't raise that.
    const isTooLarge = isAssizeError(error, 'too_large');
    const tooLarge = `as JSON it has more than ${DEFAULT_LIMITS.bytesMax} bytes, and no input may; give less at a time`;
    throw badInput(name, isTooLarge ? tooLarge : (error as Error).message.replace(/\.$/, ''), error);
  }
}

type Template = (input: Json) => readonly string[];

/** Fixed scopes are read now, so that what does not parse is found before anything is called. */
function scopesOf(
  name: string,
  member: 'reads' | 'writes',
  scopes: Scopes<any> = [],
  members: ReadonlySet<string> | undefined,
): Template {
  if (typeof scopes === 'function') return (input) => scopesTold(name, member, scopes, input);
  if (!Array.isArray(scopes))
    throw invalid(name, `${member} is a list of scopes, or a function of the input that gives one`);
  for (const scope of scopes) {
    const problem = typeof scope === 'string' ? templateProblem(scope, members) : 'it is no text';
    if (problem !== undefined)
      throw invalid(
        name,
        `the scope ${typeof scope === 'string' ? JSON.stringify(scope) : typeof scope} of ${member} does not parse: ${problem}`,
      );
  }
  const parts = scopes.map(partsOf);
  return (input) => parts.map((each) => filled(name, each, input));
}

/** Who writes has to say where: what claims nothing waits for nobody, and no writ is asked about it. */
function scopesTold(
  name: string,
  member: 'reads' | 'writes',
  scopes: (input: any) => readonly string[],
  input: Json,
): readonly string[] {
  let told: readonly string[];
  try {
    told = scopes(copyJson(input));
  } catch (error) {
    throw threw(name, `its ${member} can’t be told`, error);
  }
  if (!Array.isArray(told)) {
    // Where it is a promise that fails, nobody else hears of that, and the process would end by it.
    void (async () => told)().catch(() => undefined);
    throw badInput(name, `its ${member} are no list`);
  }
  if (member === 'writes' && told.length === 0) throw badInput(name, 'it would write, and does not say where');
  return told;
}

function templateProblem(scope: string, members: ReadonlySet<string> | undefined): string | undefined {
  const stray = [...scope.matchAll(MEMBER)].find(([, member]) => members?.has(member as string) === false);
  if (stray !== undefined) return `its input has no member ${stray[1]}`;
  const filled = scope.replaceAll(MEMBER, 'x');
  if (/[{}]/.test(filled)) return 'a brace stands only around the name of a member';
  return problemOf(filled);
}

/** The members that an input can have; undefined where that is open. */
export function inputMembers(input: z.ZodType): ReadonlySet<string> | undefined {
  if (!(input instanceof z.ZodObject)) return undefined;
  const { catchall } = input.def;
  const isClosed = catchall === undefined || catchall instanceof z.ZodNever;
  return isClosed ? new Set(Object.keys(input.shape)) : undefined;
}

const MEMBER = /\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** A scope, split at the members of the input that it names. */
interface Parts {
  readonly scope: string;
  readonly members: readonly string[];
  /** Before each member, and after the last one. */
  readonly between: readonly string[];
}

function partsOf(scope: string): Parts {
  const found = scope.split(MEMBER);
  return { scope, members: found.filter((_, i) => i % 2 === 1), between: found.filter((_, i) => i % 2 === 0) };
}

function filled(name: string, { scope, members, between }: Parts, input: Json): string {
  let text = between[0]!;
  for (let i = 0; i < members.length; i++) {
    const member = members[i]!;
    const value = (input as Record<string, unknown> | null)?.[member];
    if (typeof value !== 'string' && typeof value !== 'number')
      throw badInput(name, `the scope ${scope} needs ${member}, a text or a number`);
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
      throw badInput(name, `it would touch ${JSON.stringify(text)}, which is no scope: ${message}`, error);
    }
  });
}

function problemOf(scope: string): string | undefined {
  try {
    readClaim('read', scope);
    return undefined;
  } catch (error) {
    // It stands within a sentence.
    return (error as Error).message.replace(/\.$/, '');
  }
}

function invalid(name: string, what: string): EffectError {
  return new EffectError('invalid_tool', `The tool ${name} can't be used: ${what}.`, { evidence: { tool: name } });
}

/** Of code of a declaration, which may throw anything. */
function threw(name: string, what: string, thrown: unknown): EffectError {
  const cause = thrownOf(thrown);
  return badInput(name, `${what}: ${cause instanceof Error ? cause.message : 'it threw what is no error'}`, cause);
}

function badInput(name: string, what: string, cause?: unknown): EffectError {
  return new EffectError('bad_input', `The input of ${name} does not fit: ${what}.`, {
    evidence: { tool: name },
    cause,
  });
}
