import type { z } from 'zod';
import type { Json } from '#base';
import { contentHash } from '#canon';
import type { CompleteSpec } from './defaults.ts';
import { schemaHash } from './describe-schema.ts';
import type { ActionSpec, Domain, Rule } from './domain.ts';
import type { DomainSpec } from './domain-spec.ts';
import { patternText } from './footprint.ts';
import type { MemorySpec } from './memory-spec.ts';

/**
 * Schemas, footprints, ordered invariant ids, version, and the build's own digest if it has one.
 */
export function declarationHash(
  spec: CompleteSpec,
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
      Object.entries(actions).map(([name, action]) => [
        name,
        {
          process: action.process,
          args: schemaHash(action.args),
          ...termsOf(action),
          ...(action.calls === undefined ? {} : { calls: true }),
        },
      ]),
    ),
    invariants: rules.map(({ id, spec: rule, patterns }) => ({
      id,
      kind: rule.kind,
      footprint: patterns.map(patternText),
      ...(rule.kind === 'eachCall' ? { tool: rule.tool } : {}),
      ...termsOf(rule),
      // Written only if declared, as the terms.
      ...(rule.final === true ? { final: true } : {}),
      ...(rule.overridable === true ? { overridable: true } : {}),
    })),
    counselors: Object.keys(spec.counselors ?? {}).sort(),
    freeze: freezeOf(spec),
    // Written only if declared, so that other domains keep their hashes.
    ...(spec.deputies === undefined ? {} : { deputies: { ...spec.deputies } }),
    ...(spec.texts === 'exact' ? { texts: 'exact' } : {}),
    ...(spec.unjudgedCalls === 'allow' ? { unjudgedCalls: 'allow' } : {}),
    ...(spec.memory === undefined ? {} : { memory: predicatesOf(spec.memory) }),
    build: spec.build ?? null,
  });
}

/** Without counselors no proposal waits and nothing is frozen, whatever the domain names. */
export function freezeOf({ freeze, counselors = {} }: DomainSpec<any, any>): Domain['freeze'] {
  if (Object.keys(counselors).length === 0) return freeze ?? 'world';
  return freeze ?? 'reserve';
}

/** The predicates without their descriptions: those are texts for people. */
function predicatesOf({ predicates }: MemorySpec): Json {
  return Object.fromEntries(
    Object.entries(predicates).map(([name, { description: _text, ...declared }]) => [
      name,
      declared,
    ]),
  );
}

/** One approval was the only form at first, so it adds nothing to the hash. */
function termsOf({ approvals = 1, timeoutMs }: Pick<ActionSpec, 'approvals' | 'timeoutMs'>) {
  return {
    ...(approvals > 1 ? { approvals } : {}),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}
