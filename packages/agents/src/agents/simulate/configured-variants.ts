import type { WritChain } from 'assize/host';
import { isAssizeError } from 'assize/internal/base';
import {
  ConfigError,
  type SimulatedAgent,
  type SimulatedVariant,
  type SimulationConfig,
} from 'assize/internal/config';
import type { Agent } from '../agent.ts';
import type { Variant } from './options.ts';
import type { SimulationGiven } from './simulation-given.ts';

/**
 * The variants of a configured simulation, each agent with its writ. The message of an error has no
 * text of the project's code: it may quote a secret. Its cause has the text.
 *
 * @throws ConfigError `bad_simulation`; DuplicatePackageError `duplicate_package`
 */
export async function configuredVariants(
  name: string,
  { variants }: SimulationConfig,
  given: SimulationGiven,
): Promise<Variant[]> {
  const list: unknown =
    typeof variants === 'function' ? await made(name, variants, given) : variants;
  if (!Array.isArray(list) || list.length === 0)
    throw badSimulation(name, 'its function variants returns no list with a variant');
  return list.map((variant: SimulatedVariant | null, n) => {
    const { agents } = Object(variant) as Partial<SimulatedVariant>;
    if (!Array.isArray(agents)) throw badSimulation(name, `variant ${n + 1} has no list of agents`);
    return {
      ...(variant as SimulatedVariant),
      agents: agents.map((agent) => withWrit(name, agent, given.writs)),
    };
  });
}

/** The error of a simulation of the config that cannot run. */
export function badSimulation(simulation: string, why: string, cause?: unknown): ConfigError {
  return new ConfigError(
    'bad_simulation',
    `The simulation ${simulation} of the config cannot run: ${why}. Correct it in the config.`,
    { evidence: { simulation }, ...(cause !== undefined && { cause }) },
  );
}

async function made(
  name: string,
  make: (given: SimulationGiven) => unknown,
  given: SimulationGiven,
): Promise<unknown> {
  try {
    return await make(given);
  } catch (cause) {
    given.signal.throwIfAborted();
    if (isAssizeError(cause, 'duplicate_package')) throw cause;
    throw badSimulation(name, 'its function variants failed', cause);
  }
}

function withWrit(
  simulation: string,
  agent: SimulatedAgent | null,
  writs: readonly WritChain[],
): Agent {
  if (typeof agent !== 'object' || agent === null)
    throw badSimulation(simulation, 'an agent is not an object');
  if (agent.writ !== undefined) return agent as Agent;
  const own = writs.filter(({ writ }) => writ.subject === agent.name);
  const [writ, ...others] = own.length > 0 ? own : writs;
  if (writ === undefined)
    throw badSimulation(
      simulation,
      `no agent of the config has a grant in the trajectory, for ${agent.name}`,
    );
  if (others.length > 0)
    throw badSimulation(
      simulation,
      `several grants fit the agent ${agent.name}; choose its writ in a function variants`,
    );
  // `decide` of a class would lose its object in a copy.
  return { name: agent.name, role: agent.role, writ, decide: agent.decide?.bind(agent) };
}
