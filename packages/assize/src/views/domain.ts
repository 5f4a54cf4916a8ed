import { z } from 'zod';
import { type ActionSpec, type Domain, type Pattern, patternText } from '#kernel';

/** The complete declaration of a domain, as JSON. */
export function domainView(domain: Domain) {
  const {
    name,
    version,
    hash,
    actions,
    roles,
    processes,
    rules,
    counselors,
    deputies,
    freeze,
    memory,
  } = domain;
  return {
    name,
    version,
    hash,
    freeze,
    processes: Object.entries(processes).map(([process, { reads = [], writes = [] }]) => ({
      name: process,
      reads,
      writes,
    })),
    roles: Object.entries(roles).map(([role, { params = [], processes: performs }]) => ({
      name: role,
      params,
      processes: performs,
    })),
    actions: Object.keys(actions).map((action) => actionView(domain, action)),
    invariants: rules.map(({ id, patterns, spec }) => ({
      id,
      kind: spec.kind,
      footprint: patterns.map((pattern: Pattern) => patternText(pattern)),
      ...(spec.channel === undefined ? {} : { channel: spec.channel }),
      ...(spec.approvals === undefined ? {} : { approvals: spec.approvals }),
      ...(spec.timeoutMs === undefined ? {} : { timeoutMs: spec.timeoutMs }),
    })),
    counselors: Object.keys(counselors),
    ...(Object.keys(deputies).length > 0 && { deputies }),
    ...(memory !== undefined && {
      memory: {
        predicates: Object.entries(memory.predicates).map(([predicate, spec]) => ({
          name: predicate,
          ...spec,
        })),
      },
    }),
  };
}

/** An action with the JSON Schema of its arguments. */
export function actionView(domain: Domain, tool: string) {
  const { process, description, approvals, timeoutMs, args } = domain.actions[tool] as ActionSpec;
  return {
    name: tool,
    process,
    ...(description === undefined ? {} : { description }),
    ...(approvals === undefined ? {} : { approvals }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    args: z.toJSONSchema(args, { io: 'input', unrepresentable: 'any' }),
  };
}
