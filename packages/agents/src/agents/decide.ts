import { deepFreeze, type Json } from 'assize/internal/base';
import {
  contentHash,
  copyJson,
  type Instant,
  readInstant,
  WORLD_LIMITS,
} from 'assize/internal/canon';
import type { ObservationInput } from 'assize/internal/runtime';
import type { Agent, AgentIntent, AgentWait, Decision } from './agent.ts';
import { AgentOracleSession, type Invocation, type OracleSources } from './agent-oracle-session.ts';
import { AgentError } from './errors.ts';

/** An agent's decision on a slice, as a turn records it. */
export interface RecordedDecision {
  readonly agent: string;
  readonly does: 'propose' | 'wait' | 'done';
  /** Set if the agent proposes. */
  readonly intent?: AgentIntent;
  /** Set if the agent waits at most until then. */
  readonly until?: Instant;
  readonly observations: readonly ObservationInput[];
  /** Hash of the slice. */
  readonly slice: string;
  /** Hash of the decision and of all its questions and answers. */
  readonly decision: string;
}

export interface Invoking extends Omit<Invocation, 'agent'> {
  readonly agent: Agent;
  /** The agent's own copy. */
  readonly slice: unknown;
}

/**
 * Invokes an agent: αr(σ, ω) of Definition A.21. The agent receives only its slice and the oracle,
 * and changes only the oracle log (Proposition 1).
 *
 * An unanswered question ends the decision, even if the agent handled the error, because no record
 * has the failure. A failure that an agent must react to is an answer that `call` returns.
 *
 * @throws AgentError `function_failed`; RuntimeError `bad_intent` for a name of a question; the
 * errors of a `call`; OracleError, `oracle_miss` in a replay; the errors of the agent
 */
export async function decide(
  { agent, slice, ...place }: Invoking,
  outside: OracleSources,
): Promise<RecordedDecision> {
  const seen = contentHash(slice, WORLD_LIMITS);
  const consulting = new AgentOracleSession(outside, { ...place, agent: agent.name });
  const answer = await settled(async () => agent.decide(deepFreeze(slice), consulting.oracle));
  await consulting.end();
  if (consulting.failure !== undefined) throw consulting.failure;
  if ('error' in answer) throw answer.error;
  const decision = checked(agent.name, answer.decision);
  return {
    agent: agent.name,
    ...partsOf(decision),
    observations: consulting.observations(),
    slice: seen,
    decision: contentHash([decision as Json, consulting.consulted()]),
  };
}

async function settled(
  step: () => Promise<Decision>,
): Promise<{ readonly decision: Decision } | { readonly error: unknown }> {
  try {
    return { decision: await step() };
  } catch (error) {
    return { error };
  }
}

/** A decision in the form in which it is hashed. */
type Checked = AgentIntent | { readonly waitUntil: Instant } | 'wait' | 'done';

function partsOf(decision: Checked): Pick<RecordedDecision, 'does' | 'intent' | 'until'> {
  if (typeof decision === 'string') return { does: decision };
  return 'waitUntil' in decision
    ? { does: 'wait', until: decision.waitUntil }
    : { does: 'propose', intent: decision };
}

/** Equals the limit of an intent, because an invalid proposal must not become a turn. */
const ACTION_MAX = 512;

/** @throws AgentError `function_failed`; CanonError for arguments that are not JSON */
function checked(agent: string, decision: Decision): Checked {
  if (decision === 'wait' || decision === 'done') return decision;
  const { action, args, waitUntil } = (decision ?? {}) as Partial<AgentIntent & AgentWait>;
  const until = action === undefined ? readInstant(waitUntil) : undefined;
  if (until !== undefined) return { waitUntil: until };
  if (typeof action === 'string' && action !== '' && action.length <= ACTION_MAX)
    return { action, args: copyJson(args, { foreign: true }) };
  throw new AgentError(
    'function_failed',
    `The decision of ${agent} is not valid. Return an action with args, wait, waitUntil with an instant, or done.`,
  );
}
