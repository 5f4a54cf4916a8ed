import { deepFreeze, errorMessage, isUnwantedPromise, type Json } from '#base';
import { type CanonLimits, copyJson, type Instant } from '#canon';

/**
 * All inputs of a policy. It has neither a clock nor the domain's state: those are for invariants.
 */
export interface PolicyQuery {
  readonly action: string;
  readonly role: { readonly name: string; readonly params: { readonly [param: string]: string } };
  /** Arguments after parsing. */
  readonly args: Json;
  /** Resources that the action accesses, in normal form. */
  readonly scopes: readonly string[];
  readonly principal: string;
  readonly writ_id: string;
  readonly trajectory_id: string;
  /** The proposal's time. */
  readonly at: Instant;
  /** The changing tool calls of the proposal, if it has some. */
  readonly calls?: readonly { readonly tool: string; readonly input: Json }[];
}

export type Verdict = 'allow' | 'deny' | 'needs_approval';

export interface PolicyDecision {
  readonly decision: Verdict;
  /** Id of the rule that decided, if a rule did. */
  readonly rule?: string;
  /** Sentences for people. */
  readonly reasons: readonly string[];
  /** Faults of the evaluation. Any entry denies. */
  readonly errors: readonly string[];
}

/**
 * Decides on proposals by rules outside the domain. Synchronous and deterministic: the same query
 * always has the same answer. The decision is recorded with `digest`, and replay reads the record
 * and never calls the policy again.
 */
export interface Policy {
  readonly id: string;
  /** 64 hex digits: hash of every input of the decision (rules, schema, engine version). */
  readonly digest: string;
  evaluate(query: PolicyQuery): PolicyDecision;
}

/**
 * The policy as the kernel calls it: total, and closed on failure. A throw, a promise, a malformed
 * answer or any reported error is a denial that names the fault in `errors`. The policy receives a
 * frozen copy of the query, so it cannot change the action.
 */
export function failClosedPolicy(policy: Policy): Policy {
  if (closed.has(policy)) return policy;
  const { id, digest } = policy;
  return closedPolicy({
    id,
    digest,
    evaluate: (query) => failClosed(() => readDecision(policy.evaluate(frozenCopy(query)))),
  });
}

/** The decision, or a denial that reports the thrown error. */
export function failClosed(decide: () => PolicyDecision): PolicyDecision {
  try {
    return decide();
  } catch (error) {
    const what = errorMessage(error) ?? `it threw a ${typeof error}, not an error`;
    return denied(`The policy failed: ${what.toWellFormed()}`);
  }
}

/** Marks a policy that is total and never changes its query, so that `safely` need not wrap it. */
export function closedPolicy(policy: Policy): Policy {
  closed.add(Object.freeze(policy));
  return policy;
}

const closed = new WeakSet<Policy>();

const VERDICTS: ReadonlySet<unknown> = new Set<Verdict>(['allow', 'deny', 'needs_approval']);

/** The answer is untrusted data, so every field is checked. */
function readDecision(answer: unknown): PolicyDecision {
  if (typeof answer !== 'object' || answer === null)
    return denied('The policy returned no decision.');
  if (isUnwantedPromise(answer))
    return denied('The policy returned a promise. Decide synchronously.');
  const { decision, rule, reasons, errors } = answer as Partial<
    Record<keyof PolicyDecision, unknown>
  >;
  if (!VERDICTS.has(decision))
    return denied('The decision of the policy is not allow, deny or needs_approval.');
  if (!isTexts(reasons) || !isTexts(errors))
    return denied('The reasons and errors of the policy must be lists of strings.');
  if (rule !== undefined && !isRuleId(rule))
    return denied('The rule of the policy must be a string of 1 to 512 characters.');
  return decisionOf(decision as Verdict, rule, wellFormed(reasons), wellFormed(errors));
}

/** A decision in which any error denies. */
export function decisionOf(
  decision: Verdict,
  rule: string | undefined,
  reasons: readonly string[],
  errors: readonly string[],
): PolicyDecision {
  return {
    decision: errors.length > 0 ? 'deny' : decision,
    ...(rule === undefined ? {} : { rule }),
    reasons,
    errors,
  };
}

function denied(error: string): PolicyDecision {
  return decisionOf('deny', undefined, [], [error]);
}

function isRuleId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 512 && value.isWellFormed();
}

/** Recorded or printed text must have UTF-8 bytes. */
function wellFormed(texts: readonly string[]): readonly string[] {
  return texts.map((text) => text.toWellFormed());
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** Arguments may be larger than a payload's 1 MiB: the ledger stores large ones as blobs. */
const QUERY_LIMITS: Partial<CanonLimits> = { bytesMax: 67_108_864, nodesMax: 4_194_304 };

function frozenCopy(query: PolicyQuery): PolicyQuery {
  return deepFreeze(copyJson(query, QUERY_LIMITS)) as unknown as PolicyQuery;
}
