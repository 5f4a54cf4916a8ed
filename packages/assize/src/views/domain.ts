import { z } from 'zod';
import { type ActionSpec, type Domain, type Pattern, patternText } from '#kernel';

/** The complete declaration of a domain, as JSON. */
export function domainView(domain: Domain) {
  const { name, version, hash, actions, roles, processes, rules, counselors, freeze, memory } =
    domain;
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
    })),
    counselors: Object.keys(counselors),
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
  const { process, description, approvals, args } = domain.actions[tool] as ActionSpec;
  return {
    name: tool,
    process,
    ...(description === undefined ? {} : { description }),
    ...(approvals === undefined ? {} : { approvals }),
    args: z.toJSONSchema(args, { io: 'input', unrepresentable: 'any' }),
  };
}
