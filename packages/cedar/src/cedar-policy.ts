import type { Policy, PolicyDecision, PolicyQuery, Verdict } from 'assize/internal/authority';
import {
  arg,
  checkArgument,
  errorMessage,
  isAssizeError,
  isInstance,
  type Json,
} from 'assize/internal/base';
import { contentHash, copyJson } from 'assize/internal/canon';
import { type CedarEngine, loadEngine, sayingOf } from './engine.ts';
import { CedarError, refused } from './errors.ts';
import { PROJECTION, requestsOf } from './projection.ts';
import { type CedarRule, readPolicies } from './read-policies.ts';
import { type ReadSchema, readSchema } from './read-schema.ts';
import { type Prepared, Slots } from './slots.ts';

export interface CedarOptions {
  /** Policies in Cedar's text form. */
  readonly policies: string;
  /** The schema of the policies, in Cedar's text form or its JSON form. */
  readonly schema: string | { readonly [namespace: string]: unknown };
  /** A name for people that distinguishes several policies. Default `cedar`. */
  readonly id?: string;
}

/**
 * Policies in Cedar as a `Policy`. `index.ts` describes the request and the decision. The digest is
 * the hash of the policies, the schema, Cedar's version and the projection's version.
 *
 * @throws CedarError `missing_package`, `bad_input`; ArgumentError `bad_argument`
 */
export async function cedarPolicy(options: CedarOptions): Promise<Policy> {
  checkArgument(arg.object, options, 'options');
  const { policies, schema, id = 'cedar' } = options;
  const engine = await loadEngine();
  const text = textOf(policies);
  const read = { policies: text, schema: schemaOf(schema) };
  return policyOf(engine, slotsOf(engine), { id, ...read });
}

/** The same on a loaded engine. */
export function policyOf(
  engine: CedarEngine,
  slots: Slots,
  { id, policies, schema }: Required<CedarOptions>,
): Policy {
  const declared = told('schema', () => readSchema(engine, schema));
  const rules = told('policies', () => readPolicies(engine, policies, schema));
  const prepared = {
    policies: Object.fromEntries(rules.map((rule) => [rule.id, rule.text])),
    schema,
  };
  const asked = { engine, slots, prepared, declared, rules };
  return Object.freeze({
    id,
    digest: contentHash({
      engine: PROJECTION,
      cedar: `${engine.getCedarVersion()}/${engine.getCedarLangVersion()}`,
      policies,
      schema: schema as Json,
    }),
    evaluate: (query: PolicyQuery) => {
      try {
        return decide(asked, query);
      } catch (error) {
        return denied(`Cedar failed: ${errorMessage(error)?.toWellFormed() ?? typeof error}`);
      }
    },
  });
}

interface Asked {
  readonly engine: CedarEngine;
  readonly slots: Slots;
  readonly prepared: Prepared;
  readonly declared: ReadSchema;
  readonly rules: readonly CedarRule[];
}

/** Every request must be allowed. A request that cannot be evaluated denies the proposal. */
function decide(
  { engine, slots, prepared, declared, rules }: Asked,
  query: PolicyQuery,
): PolicyDecision {
  const requests = requestsOf(query, declared);
  if ('problem' in requests)
    return denied(`The request cannot be passed to Cedar: ${requests.problem}.`);
  const name = slots.nameOf(prepared);
  const reasons = { allow: new Set<string>(), deny: new Set<string>() };
  let decision: 'allow' | 'deny' = 'allow';
  for (const request of requests) {
    const answer = engine.statefulIsAuthorized({
      ...request,
      preparsedPolicySetId: name,
      preparsedSchemaName: name,
      validateRequest: true,
    });
    if (answer.type === 'failure')
      return denied(...answer.errors.map((error) => `Cedar: ${sayingOf(error)}`));
    const { response } = answer;
    // Cedar skips a forbid that could not be evaluated, and may then allow.
    if (response.diagnostics.errors.length > 0)
      return denied(
        ...response.diagnostics.errors.map(
          ({ policyId, error }) => `Cedar: ${policyId}: ${sayingOf(error)}`,
        ),
      );
    if (response.decision === 'deny') decision = 'deny';
    for (const reason of response.diagnostics.reason) reasons[response.decision].add(reason);
  }
  return ruled(
    decision,
    rules.filter(({ id }) => reasons[decision].has(id)),
  );
}

/** `applied`: in the order of the text, all policies that forbid, or else all that permit. */
function ruled(decision: 'allow' | 'deny', applied: readonly CedarRule[]): PolicyDecision {
  const verdict: Verdict =
    decision === 'allow' && applied.some(({ needsApproval }) => needsApproval)
      ? 'needs_approval'
      : decision;
  const rule =
    verdict === 'needs_approval' ? applied.find(({ needsApproval }) => needsApproval) : applied[0];
  if (rule !== undefined)
    return {
      decision: verdict,
      rule: rule.id,
      reasons: [rule.because ?? `The policy ${rule.id} applies.`],
      errors: [],
    };
  if (decision === 'allow') return denied('Cedar allows the request but names no policy');
  return { decision, reasons: ['No policy permits it.'], errors: [] };
}

function denied(...errors: readonly string[]): PolicyDecision {
  return { decision: 'deny', reasons: [], errors };
}

/** One for each engine, that is, one per thread. */
const slotsByEngine = new WeakMap<CedarEngine, Slots>();

function slotsOf(engine: CedarEngine): Slots {
  const known = slotsByEngine.get(engine);
  if (known !== undefined) return known;
  const slots = new Slots(engine);
  slotsByEngine.set(engine, slots);
  return slots;
}

function textOf(policies: unknown): string {
  if (typeof policies === 'string' && policies.isWellFormed()) return policies;
  throw refused('policies', ['they must be a Unicode string']);
}

function schemaOf(schema: unknown): string | { readonly [namespace: string]: Json } {
  if (typeof schema === 'string') {
    if (schema.isWellFormed()) return schema;
  } else if (typeof schema === 'object' && schema !== null && !Array.isArray(schema)) {
    return told('schema', () => copyJson(schema, { foreign: true })) as {
      readonly [namespace: string]: Json;
    };
  }
  throw refused('schema', ['it must be a Unicode string, or an object in Cedar’s JSON format']);
}

/** Reports an error of Cedar as the fault of an unreadable text. */
function told<T>(what: 'schema' | 'policies', read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (isInstance(error, CedarError)) throw error;
    if (isAssizeError(error)) throw refused(what, [error.message]);
    throw refused(what, [errorMessage(error) ?? `it threw a ${typeof error}`]);
  }
}
