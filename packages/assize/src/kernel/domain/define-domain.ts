import type { z } from 'zod';
import { isInstance, markOwnPackage, requireOwnPackage } from '#base';
import { KernelError } from '../errors.ts';
import { Bindings, BoundProcess, compileProcesses } from './bindings.ts';
import {
  checkChannel,
  checkCounselors,
  checkMemory,
  checkPlaces,
  checkRoles,
} from './check-references.ts';
import { compileRules, directPatterns } from './compile-rules.ts';
import { declarationHash, freezeOf } from './declaration-hash.ts';
import { type CompleteSpec, completed } from './defaults.ts';
import type { ActionSpec, Binding, Domain, Rule } from './domain.ts';
import type { DomainSpec } from './domain-spec.ts';
import type { DomainWords } from './domain-words.ts';
import type { Pattern } from './footprint.ts';
import { frozenCopy, frozenParts, refuseChanges } from './immutable.ts';
import { invalid } from './invalid-domain.ts';
import { BELIEVE_ACTION } from './memory-shape.ts';
import { PatternIndex } from './pattern-index.ts';
import { strangerIn } from './presentation.ts';
import type { RoleParams } from './role.ts';
import { stateFault, strictSchema } from './schema.ts';
import { hasSensitivePart, sensitivePlaces, sensitiveScope } from './sensitive.ts';
import { specFault } from './spec-shape.ts';

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

type KnownToAll<Names, Processes> = {
  readonly [Of in keyof Names]: KnownProcesses<Names[Of], Processes>;
};

type KnownToRoles<Roles, Processes> = {
  readonly [Name in keyof Roles]: Roles[Name] extends { readonly processes: infer Names }
    ? { readonly processes: KnownToAll<Names, Processes> }
    : unknown;
};

/**
 * The type from which the compiler infers the process and the unparsed arguments of each action.
 */
type ActionSignatures<Performs, Inputs> = {
  readonly actions: { readonly [Name in keyof Performs]: { readonly process?: Performs[Name] } } & {
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
  const Performs extends DomainWords['performs'] & KnownToAll<Performs, keyof Processes> = Record<
    never,
    never
  >,
  Inputs extends DomainWords['inputs'] = Record<never, never>,
>(
  declared: DomainSpec<Schema, Actions, Words<Processes, Roles, Performs, Inputs>> &
    ActionSignatures<Performs, Inputs>,
): Domain<z.infer<Schema>, Actions, Words<Processes, Roles, Performs, Inputs>> {
  const given = declared as unknown as DomainSpec<Schema, any>;
  const malformed = specFault(given);
  if (malformed !== undefined) throw invalid(String(given?.name), malformed);
  const spec = completed(given);
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
  for (const rule of rules)
    for (const pattern of directPatterns(rule)) rulesByPath.add(pattern, rule);
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
  if (misfit !== undefined)
    throw invalid(spec.name, `its initial state does not fit its schema: ${misfit}`);
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
    deputies: frozenCopy(spec.deputies ?? {}),
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
function sensitiveArgsOf(
  { memory }: DomainSpec<any, any>,
  actions: Record<string, ActionSpec>,
): Set<string> {
  const named = Object.keys(actions).filter((name) => {
    const { args, beliefs } = actions[name] as ActionSpec;
    return beliefs !== undefined || hasSensitivePart(args);
  });
  return new Set(memory === undefined ? named : [...named, BELIEVE_ACTION]);
}

function placesOf(spec: DomainSpec<any, any>, state: z.ZodType): Pattern[] {
  try {
    return sensitivePlaces(state);
  } catch (error) {
    throw isInstance(error, KernelError) ? invalid(spec.name, `${error.message}`) : error;
  }
}

function compileActions(spec: CompleteSpec): Record<string, ActionSpec> {
  const entries = Object.entries(spec.actions as Record<string, ActionSpec>).map(
    ([name, action]) => {
      if (name.startsWith('assize.'))
        throw invalid(spec.name, `the action ${name} has a reserved name`);
      if (action.process === undefined)
        throw invalid(
          spec.name,
          `the action ${name} names no process, and the domain has several: ${Object.keys(spec.processes).join(', ')}`,
        );
      if (!Object.hasOwn(spec.processes, action.process)) {
        throw invalid(
          spec.name,
          `the action ${name} belongs to ${action.process}, which is not a process`,
        );
      }
      checkChannel(spec, `the action ${name}`, action.channel);
      const { present } = action;
      const stranger =
        present && !('tools' in present) ? strangerIn(present, action.args) : undefined;
      if (stranger !== undefined)
        throw invalid(
          spec.name,
          `the action ${name} presents ${stranger}, which its arguments lack`,
        );
      return [name, Object.freeze({ ...action, args: strictSchema(action.args, 'args') })];
    },
  );
  return Object.freeze(Object.assign(Object.create(null), Object.fromEntries(entries)));
}
