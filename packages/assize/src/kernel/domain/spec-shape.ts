import { z } from 'zod';
import { issueText } from '#canon';
import { APPROVALS_MAX, WAIT_MS_MAX } from './counselors.ts';
import { MEMORY_SPEC } from './memory-shape.ts';
import { presentation } from './presentation.ts';

const fn = z.custom<(...given: any[]) => unknown>(
  (value) => typeof value === 'function',
  'must be a function',
);
const schema = z.custom<z.ZodType>(
  (value) => typeof value === 'object' && value !== null && '_zod' in value,
  'must be a zod schema',
);
const approvals = z.int().min(1).max(APPROVALS_MAX).optional();
const waitMs = z.int().min(1).max(WAIT_MS_MAX);
const timeoutMs = waitMs.optional();
const pointers = z.array(z.string(), 'must be a list of JSON pointers');

const SPEC = z.strictObject({
  name: z.string(),
  version: z.string(),
  state: schema,
  initial: z.unknown().optional(),
  processes: z
    .record(z.string(), z.strictObject({ reads: pointers.optional(), writes: pointers.optional() }))
    .optional(),
  roles: z
    .record(
      z.string(),
      z.strictObject({
        params: z.array(z.string()).optional(),
        processes: z.array(z.string()),
        sees: pointers.optional(),
      }),
    )
    .optional(),
  actions: z.record(
    z.string(),
    z.strictObject({
      process: z.string().optional(),
      args: schema,
      description: z.string().optional(),
      apply: fn,
      cost: fn.optional(),
      scopes: fn.optional(),
      calls: fn.optional(),
      beliefs: fn.optional(),
      onApprove: fn.optional(),
      onFailure: fn.optional(),
      widens: fn.optional(),
      channel: z.string().optional(),
      approvals,
      timeoutMs,
      present: z
        .union([presentation, z.strictObject({ tools: z.record(z.string(), presentation) })])
        .optional(),
    }),
  ),
  invariants: z.union(
    [z.array(z.unknown()), fn],
    'must be a list of invariants, or a function that returns one',
  ),
  counselors: z.record(z.string(), fn).optional(),
  deputies: z.record(z.string(), z.strictObject({ kind: z.string(), afterMs: waitMs })).optional(),
  freeze: z.enum(['world', 'footprint', 'reserve']).optional(),
  texts: z.enum(['composed', 'exact']).optional(),
  memory: MEMORY_SPEC.optional(),
  unjudgedCalls: z.enum(['refuse', 'allow']).optional(),
  build: z.string().optional(),
});

const OPTIONS = {
  channel: z.string().optional(),
  approvals,
  timeoutMs,
  onApprove: fn.optional(),
  final: z.boolean().optional(),
  overridable: z.boolean().optional(),
};

const GROUPED = { id: z.string(), path: z.string(), reads: pointers, ...OPTIONS };
const FIGURED = { ...GROUPED, per: fn.optional(), with: fn.optional(), check: fn };
const INDEX = z.strictObject({ path: z.string(), per: fn.optional(), of: fn.optional() });

const RULES = z.array(
  z.discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('plain'),
      id: z.string(),
      reads: pointers,
      index: z.record(z.string(), INDEX).optional(),
      check: fn,
      ...OPTIONS,
    }),
    z.strictObject({
      kind: z.literal('each'),
      id: z.string(),
      path: z.string(),
      reads: pointers,
      with: fn.optional(),
      check: fn,
      ...OPTIONS,
    }),
    z.strictObject({ kind: z.literal('unique'), by: fn, check: fn.optional(), ...GROUPED }),
    z.strictObject({ kind: z.literal('sum'), of: fn.optional(), ...FIGURED }),
    z.strictObject({ kind: z.literal('count'), where: fn.optional(), ...FIGURED }),
    z.strictObject({
      kind: z.literal('eachCall'),
      id: z.string(),
      tool: z.string(),
      reads: pointers,
      with: fn.optional(),
      check: fn,
      ...OPTIONS,
    }),
  ]),
);

/**
 * The fault in the form of a domain module, checked before the module is used. Undefined if it is
 * valid.
 */
export function specFault(spec: unknown): string | undefined {
  const parsed = SPEC.safeParse(spec);
  return parsed.success ? undefined : issueText(parsed.error);
}

/** The same for its invariants, created by `invariant`, `each`, `unique`, `sum`, `count` and
 * `eachCall`. */
export function rulesFault(rules: unknown): string | undefined {
  const parsed = RULES.safeParse(rules);
  if (parsed.success) return undefined;
  return `/invariants${issueText(parsed.error)}; write invariant(id, reads, check, options?), unique(id, path, options, check?), each(id, path, options, check), eachCall(id, tool, options, check), or sum or count in the same way`;
}
