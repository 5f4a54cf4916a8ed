import type { Writ } from '#authority';
import type { Json } from '#base';
import type { Instant } from '#canon';
import type { Domain } from '#kernel';
import type { Hash, RoleRef } from '#ledger';
import type { Theta } from '#oracle';
import type { WritChain } from '#runtime';
import { AgentError } from './errors.ts';

/**
 * An agent (seed 000, Definition A.21): a function of the slice of its role and of what the oracle answers. It remembers
 * nothing from one decision to the next: what it has to remember belongs into the world, where its slice shows it.
 */
export interface Agent {
  /** Names it in the oracle log and in idempotency keys: 1 to 128 characters, not beginning with `assize.`. */
  readonly name: string;
  readonly role: RoleRef;
  /** Under which it proposes. */
  readonly writ: Hash | Writ | WritChain;
  /**
   * What it asks for, seeing `slice`: a frozen copy, made when it is invoked. Everything else that it uses it must ask
   * `oracle` for, and in an order that is the same each time; what it asked goes into its proposal as observations.
   */
  decide(slice: any, oracle: AgentOracle): Decision | Promise<Decision>;
}

/** An intent; or nothing until the slice is another one; or nothing any more. */
export type Decision = AgentIntent | 'wait' | 'done';

/** What an agent asks for, in its own role (Definition A.21, 1). */
export interface AgentIntent {
  readonly action: string;
  readonly args: unknown;
}

/** A question of an agent, and the way to answer it while nobody has. */
export interface AgentAsking {
  /** What the observation is called, as `checkObservationName` takes it: none of the runtime's own names. Default: `oracle`. */
  readonly name?: string;
  readonly request: Json;
  readonly theta?: Theta;
  /** Asks the outside world: a model, a tool, a person. Never called in a replay. */
  readonly call: () => Json | Promise<Json>;
}

/** The one way out of an agent. Each question has a place of its own in the agent's order, so that two samples are two. */
export interface AgentOracle {
  /**
   * @throws OracleError as `Oracle.ask`; AgentError `too_many_asks`, `decision_over`; RuntimeError `bad_intent` for a name that no
   * observation may have; what `call` throws
   */
  ask(asking: AgentAsking): Promise<Json>;
  now(): Promise<Instant>;
  random(bytes: number): Promise<Uint8Array>;
}

/** Who takes turns (Definition A.27), by name. */
export type Population = ReadonlyMap<string, Agent>;

const NAME_MAX = 128;

/** @throws AgentError `bad_agents` */
export function populationOf(agents: readonly Agent[], domain: Domain): Population {
  if (!Array.isArray(agents) || agents.length === 0) throw badAgents('there must be one at least');
  const population = new Map<string, Agent>();
  for (const agent of agents) {
    const { name, role, decide } = agent ?? {};
    if (typeof name !== 'string' || name === '' || name.length > NAME_MAX)
      throw badAgents(`each has a name of 1 to ${NAME_MAX} characters`);
    if (name.startsWith('assize.')) throw badAgents(`${name} is reserved; names do not begin with assize.`);
    if (population.has(name)) throw badAgents(`two are called ${name}`);
    if (typeof decide !== 'function') throw badAgents(`${name} has no function decide`);
    if (!Object.hasOwn(domain.roles, role?.name ?? '')) throw badAgents(`${name} has no role of ${domain.name}`);
    population.set(name, agent);
  }
  return population;
}

function badAgents(what: string): AgentError {
  return new AgentError('bad_agents', `These agents can't run: ${what}.`);
}
