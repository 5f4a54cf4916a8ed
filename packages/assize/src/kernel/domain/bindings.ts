import type { z } from 'zod';
import type { CompleteSpec } from './defaults.ts';
import type { Binding, Rule } from './domain.ts';
import {
  bindAll,
  compileScope,
  EVERYTHING,
  narrowed,
  overlaps,
  type Pattern,
  type PatternTemplate,
  parseTemplate,
  type Scope,
  scopeAt,
  templateParams,
} from './footprint.ts';
import type { RoleParams } from './role.ts';
import { partsOf } from './schema.ts';

/** The footprint of a process, before its parameters are known. */
export interface ProcessTemplate {
  readonly reads: readonly PatternTemplate[];
  readonly writes: readonly PatternTemplate[];
  readonly params: readonly string[];
}

export function compileProcesses(spec: CompleteSpec): Map<string, ProcessTemplate> {
  return new Map(
    Object.entries(spec.processes).map(([name, { reads = [], writes = [] }]) => {
      const parsed = { reads: reads.map(parseTemplate), writes: writes.map(parseTemplate) };
      const params = new Set([...parsed.reads, ...parsed.writes].flatMap(templateParams));
      return [name, { ...parsed, params: [...params] }];
    }),
  );
}

/**
 * Bindings of processes. A binding without parameters is created once. Creating another costs no
 * more than finding it.
 */
export class Bindings {
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
    return new BoundProcess(
      bindAll(template.reads, params),
      bindAll(template.writes, params),
      this.#rules,
      schema,
    );
  }
}

/** The binding of built-in actions that neither read nor write the state. */
export const NO_PLACES: Binding = Object.freeze({
  reads: [],
  writes: [],
  scope: compileScope([]),
  closure: [],
  closureScope: compileScope([]),
});

/** Every proposal needs the scopes. The closure is computed only for an escalated proposal. */
export class BoundProcess implements Binding {
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
  const reached = writes
    .filter((write) => overlaps(member, write))
    .map((write) => narrowed(member, write));
  // A write to the places of `with` can affect any member.
  return others.some((other) => writes.some((write) => overlaps(other, write)))
    ? rule.patterns
    : [...reached, ...others];
}

/**
 * The scope widened by the schema: if all members of an object lie in the footprint, the whole
 * object is in it. Returns the same scope object if there is no such place.
 */
export function widenScope(scope: Scope, schema: z.ZodType): Scope {
  if (scope.all) return scope;
  const parts = partsOf(schema);
  if (parts === undefined) return scope;
  const below = (key: string, child: Scope): Scope => {
    const part = parts.members.get(key) ?? parts.every;
    return part === undefined ? child : widenScope(child, part);
  };
  const keys = new Map<string, Scope>();
  for (const [key, child] of scope.keys) keys.set(key, below(key, child));
  const any =
    scope.any === undefined || parts.every === undefined
      ? scope.any
      : widenScope(scope.any, parts.every);
  const next: Scope = { all: false, append: scope.append, keys, any };
  if (isFull(next, [...parts.members.keys()], parts.every !== undefined)) return EVERYTHING;
  const same =
    any === scope.any && [...keys].every(([key, child]) => child === scope.keys.get(key));
  return same ? scope : next;
}

function isFull(scope: Scope, members: readonly string[], open: boolean): boolean {
  if (open) return scope.any?.all === true && [...scope.keys.values()].every(({ all }) => all);
  return members.length > 0 && members.every((key) => scopeAt(scope, key)?.all === true);
}
