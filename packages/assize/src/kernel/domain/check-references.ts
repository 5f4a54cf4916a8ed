import type { z } from 'zod';
import { escapeSegment } from '#canon';
import type { ProcessTemplate } from './bindings.ts';
import { ANY_COUNSELOR } from './counselors.ts';
import type { CompleteSpec } from './defaults.ts';
import type { ActionSpec, Rule } from './domain.ts';
import type { DomainSpec } from './domain-spec.ts';
import {
  bindAll,
  contains,
  type Pattern,
  type PatternTemplate,
  parseTemplate,
  patternText,
} from './footprint.ts';
import { invalid } from './invalid-domain.ts';
import type { Role } from './role.ts';
import { hasPlace } from './schema.ts';

// Names and paths in the declaration of a domain that must lead to another part of it.

export function checkRoles(spec: CompleteSpec, processes: Map<string, ProcessTemplate>): void {
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
    throw invalid(
      spec.name,
      `the role ${name} sees ${patternText(excess)}, which none of its processes needs`,
    );
  const missing = needs.find((pattern) => !contains(sees, pattern));
  if (missing !== undefined)
    throw invalid(
      spec.name,
      `the role ${name} does not see ${patternText(missing)}, which its processes need`,
    );
}

/** A memory needs declared predicates, and counselor kinds that exist. */
export function checkMemory(spec: DomainSpec<any, any>): void {
  const says = Object.entries(spec.actions as Record<string, ActionSpec>).find(
    ([, { beliefs }]) => beliefs !== undefined,
  );
  if (says !== undefined && spec.memory === undefined)
    throw invalid(
      spec.name,
      `the action ${says[0]} has beliefs, but the domain declares no memory`,
    );
  for (const [name, { channel }] of Object.entries(spec.memory?.predicates ?? {}))
    checkChannel(spec, `the predicate ${name}`, channel);
}

/**
 * A pointer to a missing place makes a rule that never runs or a process that cannot write. Such a
 * pointer is always a mistake.
 */
export function checkPlaces(
  spec: DomainSpec<any, any>,
  state: z.ZodType,
  processes: Map<string, ProcessTemplate>,
  rules: readonly Rule[],
): void {
  const check = (what: string, { segments }: Pattern | PatternTemplate): void => {
    const path = segments.map((segment) => (typeof segment === 'string' ? segment : undefined));
    if (hasPlace(state, path)) return;
    const pointer = path.map((key) => `/${key === undefined ? '*' : escapeSegment(key)}`).join('');
    throw invalid(
      spec.name,
      `${what} names ${pointer}, but the schema of the state has no such path`,
    );
  };
  for (const [name, { reads, writes }] of processes) {
    for (const template of [...reads, ...writes]) check(`the process ${name}`, template);
  }
  for (const rule of rules)
    for (const pattern of rule.patterns) check(`the invariant ${rule.id}`, pattern);
}

export function checkChannel(
  spec: DomainSpec<any, any>,
  what: string,
  channel: string | undefined,
): void {
  if (channel !== undefined && !Object.hasOwn(spec.counselors ?? {}, channel)) {
    throw invalid(
      spec.name,
      `${what} names the channel ${channel}, which is not in \`counselors\``,
    );
  }
}

/**
 * Names that can form a channel. `any` matches every counselor, `+` joins kinds that a single
 * counselor must all have.
 */
export function checkCounselors(spec: DomainSpec<any, any>): void {
  const odd = Object.keys(spec.counselors ?? {}).find(
    (name) => name === ANY_COUNSELOR || !/^[A-Za-z][A-Za-z0-9_-]*$/.test(name),
  );
  if (odd !== undefined) {
    throw invalid(
      spec.name,
      `the counselor kind ${JSON.stringify(odd)} is not valid; use letters, digits, - and _, and not "any"`,
    );
  }
  for (const [of, { kind }] of Object.entries(spec.deputies ?? {})) {
    checkChannel(spec, '`deputies`', of);
    checkChannel(spec, `the deputy of ${of}`, kind);
    if (kind === of) throw invalid(spec.name, `the counselor kind ${of} is its own deputy`);
  }
}
