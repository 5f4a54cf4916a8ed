import type { z } from 'zod';
import { isToolPattern } from '#authority';
import { isInstance, type Json, markOwnPackage, requireOwnPackage } from '#base';
import { canonicalize, contentHash, escapeSegment } from '#canon';
import { KernelError } from '../errors.ts';
import { ANY_COUNSELOR } from './counselors.ts';
import { schemaHash } from './describe-schema.ts';
import type { ActionSpec, Binding, Domain, Rule } from './domain.ts';
import type { DomainSpec } from './domain-spec.ts';
import type { DomainWords } from './domain-words.ts';
import {
  bindAll,
  compileScope,
  contains,
  narrowed,
  overlaps,
  type Pattern,
  type PatternTemplate,
  parseTemplate,
  patternText,
  type Scope,
  templateParams,
} from './footprint.ts';
import { refusePromise } from './host-code.ts';
import { frozenCopy, frozenParts, refuseChanges } from './immutable.ts';
import {
  count,
  each,
  eachCall,
  type Index,
  type Invariant,
  invariant,
  type Rules,
  sum,
  type UniqueInvariant,
  unique,
} from './invariant.ts';
import { BELIEVE_ACTION } from './memory-shape.ts';
import type { MemorySpec } from './memory-spec.ts';
import { PatternIndex } from './pattern-index.ts';
import type { Role, RoleParams } from './role.ts';
import { hasPlace, stateFault, strictSchema } from './schema.ts';
import { hasSensitivePart, sensitivePlaces, sensitiveScope } from './sensitive.ts';
import { rulesFault, specFault } from './spec-shape.ts';
import type { AggregatePlan } from './tally-plan.ts';
import { widenScope } from './widen-scope.ts';

// An alias and not an interface, so declarations can write the type of a domain without this name.
export type Words<Processes, Roles, Performs, Inputs> = {
  readonly processes: Processes;
  readonly roles: Roles;
  readonly performs: Performs;
  readonly inputs: Inputs;
};

/**
 * Named processes must exist, and the compiler's error names the missing one. A name that is not a
 * literal is allowed.
 */
type KnownProcesses<Name, Processes> = string extends Name
  ? Name
  : Name extends Processes
    ? Name
    : `there is no process ${Name & string}`;

type KnownToAll<Names, Processes> = { readonly [Of in keyof Names]: KnownProcesses<Names[Of], Processes> };

type KnownToRoles<Roles, Processes> = {
  readonly [Name in keyof Roles]: Roles[Name] extends { readonly processes: infer Names }
    ? { readonly processes: KnownToAll<Names, Processes> }
    : unknown;
};

/**
 * The type from which the compiler infers the process and the unparsed arguments of each action.
 */
type ActionSignatures<Performs, Inputs> = {
  readonly actions: { readonly [Name in keyof Performs]: { readonly process: Performs[Name] } } & {
    readonly [Name in keyof Inputs]: { readonly args: z.ZodType<unknown, Inputs[Name]> };
  };
};

/**
 * Checks a domain module and makes it ready to run.
 *
 * @throws KernelError `invalid_domain` with the invalid part and the correction
 */
export function defineDomain<
  Schema extends z.ZodType,
  Actions extends Record<string, unknown>,
  const Processes extends DomainWords['processes'] = any,
  const Roles extends DomainWords['roles'] & KnownToRoles<Roles, keyof Processes> = any,
  const Performs extends DomainWords['performs'] & KnownToAll<Performs, keyof Processes> = Record<never, never>,
  Inputs extends DomainWords['inputs'] = Record<never, never>,
>(
  declared: DomainSpec<Schema, Actions, Words<Processes, Roles, Performs, Inputs>> & ActionSignatures<Performs, Inputs>,
): Domain<z.infer<Schema>, Actions, Words<Processes, Roles, Performs, Inputs>> {
  const spec = declared as unknown as DomainSpec<Schema, any>;
  const malformed = specFault(spec);
  if (malformed !== undefined) throw invalid(String(spec?.name), malformed);
  if (!/^[a-z][a-z0-9_-]*$/.test(spec.name)) {
    throw new KernelError(
      'invalid_domain',
      `The domain name ${JSON.stringify(spec.name)} is not valid. Use lower-case letters, digits, - and _.`,
    );
  }
  const processes = compileProcesses(spec);
  checkRoles(spec, processes);
  const rules = frozenParts(compileRules(spec));
  const rulesByPath = new PatternIndex<Rule>();
  for (const rule of rules) for (const pattern of directPatterns(rule)) rulesByPath.add(pattern, rule);
  refuseChanges(rulesByPath, ['add', 'remove']);
  const state = strictSchema(spec.state, 'state');
  const bindings = new Bindings(processes, rules, state);
  checkCounselors(spec);
  checkMemory(spec);
  checkPlaces(spec, state, processes, rules);
  const actions = compileActions(spec);
  const sensitive = frozenParts(placesOf(spec, state));
  const roles = frozenCopy(spec.roles);
  const misfit = spec.initial === undefined ? undefined : stateFault(state, spec.initial);
  if (misfit !== undefined) throw invalid(spec.name, `its initial state does not fit its schema: ${misfit}`);
  const made = {
    name: spec.name,
    version: spec.version,
    hash: declarationHash(spec, state, actions, rules),
    state: state as z.ZodType<z.infer<Schema>>,
    initial: frozenCopy(spec.initial),
    declared: spec as unknown as DomainSpec<z.ZodType<z.infer<Schema>>, Actions>,
    actions: actions as Domain<z.infer<Schema>, Actions>['actions'],
    roles,
    processes: frozenCopy(spec.processes),
    counselors: frozenCopy(spec.counselors ?? {}),
    freeze: freezeOf(spec),
    texts: spec.texts ?? 'composed',
    memory: frozenCopy(spec.memory),
    unjudgedCalls: spec.unjudgedCalls ?? 'refuse',
    rules,
    rulesByPath,
    sensitive: frozenParts(sensitiveScope(sensitive)),
    sensitiveArgs: frozenParts(sensitiveArgsOf(spec, actions)),
    erasing: frozenErasing(sensitive, rules),
    bind: (process: string, params: RoleParams) => bindings.get(process, params),
    footprint: (role: string, params: RoleParams) =>
      (roles[role]?.processes ?? []).flatMap((process) => {
        const { reads, writes } = bindings.get(process, params);
        return [...reads, ...writes];
      }),
  };
  return Object.freeze(markOwnPackage(made));
}

function frozenErasing(sensitive: readonly Pattern[], rules: readonly Rule[]): Binding {
  const erasing = new BoundProcess(Object.freeze([]), sensitive, rules, undefined);
  frozenParts(erasing.scope);
  return Object.freeze(erasing);
}

/**
 * Refuses the domain of another copy of the package. This copy would read the other copy's star in
 * a footprint as an unknown key, and would check nothing.
 *
 * @throws DuplicatePackageError `duplicate_package`
 */
export function requireOwnDomain(domain: Domain): void {
  requireOwnPackage(domain, `The domain ${domain?.name}`);
}

/** Statements can be erased, in every place in which they are recorded. */
function sensitiveArgsOf({ memory }: DomainSpec<any, any>, actions: Record<string, ActionSpec>): Set<string> {
  const named = Object.keys(actions).filter((name) => {
    const { args, beliefs } = actions[name] as ActionSpec;
    return beliefs !== undefined || hasSensitivePart(args);
  });
  return new Set(memory === undefined ? named : [...named, BELIEVE_ACTION]);
}

/** A memory needs declared predicates, and counselor kinds that exist. */
function checkMemory(spec: DomainSpec<any, any>): void {
  const says = Object.entries(spec.actions as Record<string, ActionSpec>).find(
    ([, { beliefs }]) => beliefs !== undefined,
  );
  if (says !== undefined && spec.memory === undefined)
    throw invalid(spec.name, `the action ${says[0]} has beliefs, but the domain declares no memory`);
  for (const [name, { channel }] of Object.entries(spec.memory?.predicates ?? {}))
    checkChannel(spec, `the predicate ${name}`, channel);
}

function placesOf(spec: DomainSpec<any, any>, state: z.ZodType): Pattern[] {
  try {
    return sensitivePlaces(state);
  } catch (error) {
    throw isInstance(error, KernelError) ? invalid(spec.name, `${error.message}`) : error;
  }
}

interface ProcessTemplate {
  readonly reads: readonly PatternTemplate[];
  readonly writes: readonly PatternTemplate[];
  readonly params: readonly string[];
}

function compileProcesses(spec: DomainSpec<any, any>): Map<string, ProcessTemplate> {
  return new Map(
    Object.entries(spec.processes).map(([name, { reads = [], writes = [] }]) => {
      const parsed = { reads: reads.map(parseTemplate), writes: writes.map(parseTemplate) };
      const params = new Set([...parsed.reads, ...parsed.writes].flatMap(templateParams));
      return [name, { ...parsed, params: [...params] }];
    }),
  );
}

function checkRoles(spec: DomainSpec<any, any>, processes: Map<string, ProcessTemplate>): void {
  for (const [name, role] of Object.entries(spec.roles)) {
    const params = role.params ?? [];
    for (const process of role.processes) {
      const template = processes.get(process);
      if (template === undefined)
        throw invalid(spec.name, `the role ${name} performs ${process}, which is not a process`);
      const missing = template.params.find((param) => !params.includes(param));
      if (missing !== undefined) {
        throw invalid(
          spec.name,
          `the process ${process} needs the parameter ${missing}, which the role ${name} does not have`,
        );
      }
    }
    if (role.sees !== undefined) checkSees(spec, name, role, processes);
  }
}

/** Agentic Redux A.8: a role that declares `sees` must see exactly what its processes need. */
function checkSees(
  spec: DomainSpec<any, any>,
  name: string,
  role: Role,
  processes: Map<string, ProcessTemplate>,
): void {
  const params = Object.fromEntries((role.params ?? []).map((param) => [param, `{${param}}`]));
  const sees = bindAll((role.sees ?? []).map(parseTemplate), params);
  const needs = role.processes.flatMap((process) => {
    const template = processes.get(process) as ProcessTemplate;
    return bindAll([...template.reads, ...template.writes], params);
  });
  const excess = sees.find((pattern) => !contains(needs, pattern));
  if (excess !== undefined)
    throw invalid(spec.name, `the role ${name} sees ${patternText(excess)}, which none of its processes needs`);
  const missing = needs.find((pattern) => !contains(sees, pattern));
  if (missing !== undefined)
    throw invalid(spec.name, `the role ${name} does not see ${patternText(missing)}, which its processes need`);
}

function compileActions(spec: DomainSpec<any, any>): Record<string, ActionSpec> {
  const entries = Object.entries(spec.actions as Record<string, ActionSpec>).map(([name, action]) => {
    if (name.startsWith('assize.')) throw invalid(spec.name, `the action ${name} has a reserved name`);
    if (!Object.hasOwn(spec.processes, action.process)) {
      throw invalid(spec.name, `the action ${name} belongs to ${action.process}, which is not a process`);
    }
    checkChannel(spec, `the action ${name}`, action.channel);
    return [name, Object.freeze({ ...action, args: strictSchema(action.args, 'args') })];
  });
  return Object.freeze(Object.assign(Object.create(null), Object.fromEntries(entries)));
}

function compileRules(spec: DomainSpec<any, any>): Rule[] {
  const rules = { invariant, each, unique, sum, count, eachCall } as Rules<any>;
  const list = typeof spec.invariants === 'function' ? spec.invariants(rules) : spec.invariants;
  const malformed = rulesFault(list);
  if (malformed !== undefined) throw invalid(spec.name, malformed);
  const seen = new Set<string>();
  const members = new Map<string, Pattern>();
  return list.map((item, index) => {
    if (seen.has(item.id)) throw invalid(spec.name, `two invariants are named ${item.id}`);
    seen.add(item.id);
    checkChannel(spec, `the invariant ${item.id}`, item.channel);
    return { index, id: item.id, spec: frozenCopy(item), ...placesOfRule(spec.name, item, members) };
  });
}

/** `members`: the known paths of members, by their text. */
function placesOfRule(
  domain: string,
  item: Invariant<any>,
  members: Map<string, Pattern>,
): Pick<Rule, 'patterns' | 'scope' | 'member' | 'aggregates'> {
  const reads = item.reads.map((source) => fixedPattern(domain, item.id, source));
  const scope = compileScope(reads);
  if (item.kind === 'eachCall' && !isToolPattern(item.tool))
    throw invalid(domain, `${item.id} names the tool ${item.tool}; write a tool's name, a group such as bank.*, or **`);
  if (item.kind === 'eachCall') return { patterns: reads, scope, member: undefined, aggregates: [] };
  const membersAt = (path: string): Pattern => {
    if (!path.endsWith('/*')) {
      throw invalid(domain, `the path ${path} of ${item.id} must end in /*, such as /orders/*`);
    }
    const known = members.get(path) ?? fixedPattern(domain, item.id, path);
    members.set(path, known);
    return known;
  };
  if (item.kind === 'plain') {
    const tallies = Object.entries(item.index ?? {}).map(([name, { path, per, of }]) =>
      planOf(name, membersAt(path), per, of),
    );
    return { patterns: [...reads, ...tallies.map(({ path }) => path)], scope, member: undefined, aggregates: tallies };
  }
  const path = membersAt(item.path);
  const patterns = [path, ...reads];
  if (item.kind === 'each') return { patterns, scope, member: path, aggregates: [] };
  return { patterns, scope, member: undefined, aggregates: [groupPlan(item, path)] };
}

function groupPlan(item: Extract<Invariant<any>, { kind: 'unique' | 'sum' | 'count' }>, path: Pattern): AggregatePlan {
  if (item.kind === 'sum') return planOf(item.id, path, item.per, item.of ?? ((member) => member as number));
  if (item.kind === 'unique') return uniquePlan(item, path);
  const { per, where } = item;
  if (where === undefined) return planOf(item.id, path, per, undefined);
  const counted = (member: unknown, keys: readonly string[]): string | undefined => {
    const counts: unknown = where(member, keys);
    refusePromise(counts, '`where`');
    if (typeof counts !== 'boolean') throw new Error('its `where` must return true or false');
    if (!counts) return undefined;
    return per === undefined ? '' : per(member, keys);
  };
  return planOf(item.id, path, counted, undefined);
}

function planOf(name: string, path: Pattern, per: Index['per'], of: Index['of']): AggregatePlan {
  return { name, path, by: per ?? inOne, group: nameText, amount: of, named: false };
}

const inOne = (): string => '';

function nameText(name: unknown): string | undefined {
  return typeof name === 'string' ? name : undefined;
}

function uniquePlan({ id, by }: UniqueInvariant<any>, path: Pattern): AggregatePlan {
  const told = (member: unknown, keys: readonly string[]): unknown => {
    const value: unknown = by(member, keys);
    refusePromise(value, '`by`');
    // A value can be a part of the state, which the next change replaces.
    return typeof value === 'object' && value !== null ? new CanonicalKey(canonicalize(value)) : value;
  };
  return { ...planOf(id, path, told as Index['per'], undefined), group: valueText, named: true };
}

/** The canonical text of a value with parts. */
class CanonicalKey {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** No other value's text starts like the text of a string here. */
function valueText(value: unknown): string {
  if (value instanceof CanonicalKey) return value.text;
  return typeof value === 'string' ? `"${value}` : canonicalize(value);
}

/**
 * A pointer to a missing place makes a rule that never runs or a process that cannot write. Such a
 * pointer is always a mistake.
 */
function checkPlaces(
  spec: DomainSpec<any, any>,
  state: z.ZodType,
  processes: Map<string, ProcessTemplate>,
  rules: readonly Rule[],
): void {
  const check = (what: string, { segments }: Pattern | PatternTemplate): void => {
    const path = segments.map((segment) => (typeof segment === 'string' ? segment : undefined));
    if (hasPlace(state, path)) return;
    const pointer = path.map((key) => `/${key === undefined ? '*' : escapeSegment(key)}`).join('');
    throw invalid(spec.name, `${what} names ${pointer}, but the schema of the state has no such path`);
  };
  for (const [name, { reads, writes }] of processes) {
    for (const template of [...reads, ...writes]) check(`the process ${name}`, template);
  }
  for (const rule of rules) for (const pattern of rule.patterns) check(`the invariant ${rule.id}`, pattern);
}

function fixedPattern(domain: string, id: string, source: string): Pattern {
  const template = parseTemplate(source);
  if (template.append || templateParams(template).length > 0) {
    throw invalid(domain, `the footprint ${source} of ${id} must be a plain pointer; only * is allowed in it`);
  }
  return bindAll([template], {})[0] as Pattern;
}

function checkChannel(spec: DomainSpec<any, any>, what: string, channel: string | undefined): void {
  if (channel !== undefined && !Object.hasOwn(spec.counselors ?? {}, channel)) {
    throw invalid(spec.name, `${what} names the channel ${channel}, which is not in \`counselors\``);
  }
}

/**
 * Names that can form a channel. `any` matches every counselor, `+` joins kinds that a single
 * counselor must all have.
 */
function checkCounselors(spec: DomainSpec<any, any>): void {
  const odd = Object.keys(spec.counselors ?? {}).find(
    (name) => name === ANY_COUNSELOR || !/^[A-Za-z][A-Za-z0-9_-]*$/.test(name),
  );
  if (odd !== undefined) {
    throw invalid(
      spec.name,
      `the counselor kind ${JSON.stringify(odd)} is not valid; use letters, digits, - and _, and not "any"`,
    );
  }
}

/**
 * Patterns that re-evaluate a rule directly when they change. The places of `with` are found by
 * their reverse index. A rule over calls is evaluated only for the calls of a proposal.
 */
function directPatterns(rule: Rule): readonly Pattern[] {
  if (rule.spec.kind === 'eachCall') return [];
  return rule.spec.kind === 'plain' ? rule.patterns : rule.patterns.slice(0, 1);
}

/**
 * Bindings of processes. A binding without parameters is created once. Creating another costs no
 * more than finding it.
 */
class Bindings {
  readonly #processes: Map<string, ProcessTemplate>;
  readonly #rules: readonly Rule[];
  readonly #schema: z.ZodType;
  readonly #fixed: Map<string, Binding> = new Map();
  /**
   * Processes with a footprint that has all members of some object. Most processes have no such
   * object.
   */
  readonly #saturating: Set<ProcessTemplate> = new Set();

  constructor(processes: Map<string, ProcessTemplate>, rules: readonly Rule[], schema: z.ZodType) {
    this.#processes = processes;
    this.#rules = rules;
    this.#schema = schema;
    for (const template of processes.values()) {
      const params = Object.fromEntries(template.params.map((param) => [param, `{${param}}`]));
      const scope = compileScope(bindAll([...template.reads, ...template.writes], params));
      if (widenScope(scope, schema) !== scope) this.#saturating.add(template);
    }
  }

  get(process: string, params: RoleParams): Binding {
    const template = this.#processes.get(process) as ProcessTemplate;
    if (template.params.length > 0) return this.#make(template, params);
    let fixed = this.#fixed.get(process);
    if (fixed === undefined) {
      fixed = this.#make(template, params);
      this.#fixed.set(process, fixed);
    }
    return fixed;
  }

  #make(template: ProcessTemplate, params: RoleParams): Binding {
    const schema = this.#saturating.has(template) ? this.#schema : undefined;
    return new BoundProcess(bindAll(template.reads, params), bindAll(template.writes, params), this.#rules, schema);
  }
}

/**
 * Every proposal needs the scopes. Only an escalated proposal needs the closure, which is computed
 * then.
 */
class BoundProcess implements Binding {
  readonly reads: readonly Pattern[];
  readonly writes: readonly Pattern[];
  readonly scope: Scope;
  readonly #rules: readonly Rule[];
  #closure: { readonly patterns: readonly Pattern[]; readonly scope: Scope } | undefined;

  constructor(
    reads: readonly Pattern[],
    writes: readonly Pattern[],
    rules: readonly Rule[],
    saturating: z.ZodType | undefined,
  ) {
    this.reads = reads;
    this.writes = writes;
    const scope = compileScope([...reads, ...writes]);
    this.scope = saturating === undefined ? scope : widenScope(scope, saturating);
    this.#rules = rules;
  }

  get closure(): readonly Pattern[] {
    return this.#close().patterns;
  }

  get closureScope(): Scope {
    return this.#close().scope;
  }

  #close(): { readonly patterns: readonly Pattern[]; readonly scope: Scope } {
    if (this.#closure === undefined) {
      const patterns = [
        ...this.reads,
        ...this.writes,
        ...this.#rules.flatMap((rule) => overlappingPatterns(rule, this.writes)),
      ];
      this.#closure = { patterns, scope: compileScope(patterns) };
    }
    return this.#closure;
  }
}

/**
 * The paths that a rule reads, if a write overlaps them. For an `each` rule, only the members
 * within reach of the writes.
 */
function overlappingPatterns(rule: Rule, writes: readonly Pattern[]): readonly Pattern[] {
  if (!rule.patterns.some((pattern) => writes.some((write) => overlaps(pattern, write)))) return [];
  const { member } = rule;
  if (member === undefined) return rule.patterns;
  const others = rule.patterns.slice(1);
  const reached = writes.filter((write) => overlaps(member, write)).map((write) => narrowed(member, write));
  // A write to the places of `with` can affect any member.
  return others.some((other) => writes.some((write) => overlaps(other, write)))
    ? rule.patterns
    : [...reached, ...others];
}

/**
 * Schemas, footprints, ordered invariant ids, version, and the build's own digest if it has one.
 */
function declarationHash(
  spec: DomainSpec<any, any>,
  state: z.ZodType,
  actions: Record<string, ActionSpec>,
  rules: readonly Rule[],
): string {
  return contentHash({
    name: spec.name,
    version: spec.version,
    state: schemaHash(state),
    processes: Object.fromEntries(
      Object.entries(spec.processes).map(([name, { reads = [], writes = [] }]) => [
        name,
        { reads: [...reads], writes: [...writes] },
      ]),
    ),
    roles: Object.fromEntries(
      Object.entries(spec.roles).map(([name, { params = [], processes }]) => [
        name,
        { params: [...params], processes: [...processes] },
      ]),
    ),
    actions: Object.fromEntries(
      Object.entries(actions).map(([name, { process, args, approvals, calls }]) => [
        name,
        {
          process,
          args: schemaHash(args),
          ...several(approvals),
          ...(calls === undefined ? {} : { calls: true }),
        },
      ]),
    ),
    invariants: rules.map(({ id, spec: rule, patterns }) => ({
      id,
      kind: rule.kind,
      footprint: patterns.map(patternText),
      ...(rule.kind === 'eachCall' ? { tool: rule.tool } : {}),
      ...several(rule.approvals),
      // Written only if declared, as `approvals`.
      ...(rule.final === true ? { final: true } : {}),
    })),
    counselors: Object.keys(spec.counselors ?? {}).sort(),
    freeze: freezeOf(spec),
    // Written only if declared, so that other domains keep their hashes.
    ...(spec.texts === 'exact' ? { texts: 'exact' } : {}),
    ...(spec.unjudgedCalls === 'allow' ? { unjudgedCalls: 'allow' } : {}),
    ...(spec.memory === undefined ? {} : { memory: predicatesOf(spec.memory) }),
    build: spec.build ?? null,
  });
}

/** Without counselors no proposal waits and nothing is frozen, whatever the domain names. */
function freezeOf({ freeze, counselors = {} }: DomainSpec<any, any>): Domain['freeze'] {
  if (Object.keys(counselors).length === 0) return freeze ?? 'world';
  return freeze ?? 'reserve';
}

/** The predicates without their descriptions, which are texts for people. */
function predicatesOf({ predicates }: MemorySpec): Json {
  return Object.fromEntries(
    Object.entries(predicates).map(([name, { description: _text, ...declared }]) => [name, declared]),
  );
}

/** One approval was the only form at first, so it adds nothing to the hash. */
function several(approvals: number = 1): { approvals?: number } {
  return approvals > 1 ? { approvals } : {};
}

function invalid(domain: string, what: string): KernelError {
  return new KernelError('invalid_domain', `The domain ${domain} is not valid: ${what}.`);
}
