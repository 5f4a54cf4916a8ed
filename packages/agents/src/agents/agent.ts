import type { WritChain } from 'assize/host';
import type { Writ } from 'assize/internal/authority';
import type { Json } from 'assize/internal/base';
import type { Instant, Time } from 'assize/internal/canon';
import type { Domain } from 'assize/internal/kernel';
import type { Hash, RoleRef } from 'assize/internal/ledger';
import type { Theta } from 'assize/internal/oracle';
import { AgentError } from './errors.ts';

/**
 * An agent (Agentic Redux, Definition A.21): a function of its role's slice and of the oracle's
 * answers. It keeps nothing between decisions; data to remember belongs in the state, where its
 * slice shows the data.
 */
export interface Agent {
  /**
   * The agent's name in the oracle log and in idempotency keys: 1 to 128 characters, not starting
   * with `assize.`.
   */
  readonly name: string;
  readonly role: RoleRef;
  /** The writ under which the agent proposes. */
  readonly writ: Hash | Writ | WritChain;
  /**
   * Returns the next intent for `slice`, a frozen copy made for the invocation. The agent must ask
   * `oracle` for every other input, in an order that is the same each time. The answers become
   * observations of its proposal.
   */
  decide(slice: any, oracle: AgentOracle): Decision | Promise<Decision>;
}

/**
 * An intent; `wait` until the slice changes, or until the agent's own pending proposal is decided;
 * the same, but at most until an instant; or `done` permanently.
 */
export type Decision = AgentIntent | 'wait' | AgentWait | 'done';

/** A wait with an end: the runner asks again at that instant, if nothing changed before. */
export interface AgentWait {
  readonly waitUntil: Time;
}

/** An agent's intent, in its own role (Definition A.21, 1). */
export interface AgentIntent {
  readonly action: string;
  readonly args: unknown;
}

/** An agent's question, with the function that answers it if the log has no answer. */
export interface AgentQuestion {
  /**
   * The name of the observation, valid for `checkObservationName`; the runtime's own names are
   * refused. Default: `oracle`.
   */
  readonly name?: string;
  readonly request: Json;
  readonly theta?: Theta;
  /** Asks the outside world: a model, a tool, a human. Never called in a replay. */
  readonly call: () => Json | Promise<Json>;
}

/**
 * An agent's only access to the outside world. Each question has its own position in the agent's
 * order, so two samples are two answers.
 */
export interface AgentOracle {
  /**
   * @throws OracleError the errors of `Oracle.ask`; AgentError `too_large`, `misuse`; RuntimeError
   * `bad_intent` for an invalid observation name; the errors of `call`
   */
  ask(asking: AgentQuestion): Promise<Json>;
  now(): Promise<Instant>;
  random(bytes: number): Promise<Uint8Array>;
  /**
   * The calls of the agent's last proposal, in call order. Empty if its action declares none, or if
   * the proposal is not committed. The answer becomes an observation of the next proposal, named
   * `calls`.
   */
  calls(): Promise<readonly CallResult[]>;
  /**
   * The ruling on the agent's last proposal, or the end of its approval. Null before the first
   * proposal. The answer becomes an observation of the next proposal, named `ruling`.
   */
  ruling(): Promise<LastRuling | null>;
}

/** The outcome of a call that an agent's action declared. */
export interface CallResult {
  readonly tool: string;
  /** `applied`: the call was made. See `EffectOutcome`. */
  readonly phase: string;
  /** The answer of the tool. Undefined if the tool gave none, or if the answer is too long. */
  readonly answer?: Json;
}

/**
 * The ruling on an agent's last proposal, as data for the agent. A member is absent if the ruling
 * does not have it.
 */
export interface LastRuling {
  /** `frozen`: another approval blocked the proposal, and no entry was written. */
  readonly ruling: 'committed' | 'rejected' | 'escalated' | 'frozen';
  /** The proposed action. Absent for `frozen`. */
  readonly action?: string;
  /** The proposed arguments. Absent if they are sensitive or too large for their entry. */
  readonly args?: Json;
  readonly reason?: string;
  readonly detail?: string;
  /** The rule that refused or escalated the proposal. */
  readonly rule?: string;
  /** The misfits of the arguments, each with its JSON pointer. */
  readonly findings?: readonly { readonly pointer: string; readonly message: string }[];
  /** The kind of counselor that decides about an escalated proposal. */
  readonly channel?: string;
}

/** The agents that take turns (Definition A.27), by name. */
export type Population = ReadonlyMap<string, Agent>;

const NAME_MAX = 128;

/** @throws AgentError `bad_argument` */
export function populationOf(agents: readonly Agent[], domain: Domain): Population {
  if (!Array.isArray(agents) || agents.length === 0)
    throw badAgents('the list needs at least one agent');
  const population = new Map<string, Agent>();
  for (const agent of agents) {
    const { name, role, decide, writ } = agent ?? {};
    if (typeof name !== 'string' || name === '' || name.length > NAME_MAX)
      throw badAgents(`each agent must have a name of 1 to ${NAME_MAX} characters`);
    if (name.startsWith('assize.'))
      throw badAgents(`the name ${name} is reserved; do not start names with "assize."`);
    if (population.has(name)) throw badAgents(`two agents are named ${name}`);
    if (typeof decide !== 'function') throw badAgents(`${name} has no function decide`);
    if (typeof writ !== 'string' && (typeof writ !== 'object' || writ === null))
      throw badAgents(`${name} has no writ`);
    if (!Object.hasOwn(domain.roles, role?.name ?? ''))
      throw badAgents(`the role of ${name} is not a role of ${domain.name}`);
    population.set(name, agent);
  }
  return population;
}

function badAgents(what: string): AgentError {
  return new AgentError('bad_argument', `The agents are not valid: ${what}.`);
}
