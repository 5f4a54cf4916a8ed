import { CliError, project } from '@assize/command';
import { isAssizeError, thrownText } from 'assize/internal/base';
import { generateKeys } from 'assize/internal/canon';
import { findRootKey, GrantIssuer } from 'assize/internal/config';
import type { Store } from 'assize/internal/stores';
import {
  configuredVariants,
  type SimulationGiven,
  type ToolSimulator,
  type Variant,
} from '#agents';

/** A simulation of the config. */
export interface NamedSimulation {
  readonly simulators: { readonly [tool: string]: ToolSimulator };
  /** The most turns of a sample. */
  readonly turns: number;
  /**
   * The variants, and the key that issued the writs of their agents. Without the root key of the
   * store it is a key of this process, because the copy of the trajectory is in memory.
   *
   * @throws CliError `usage`, `bad_input`; ConfigError `bad_simulation`
   */
  prepared(
    store: Store,
    trajectoryId: string,
    given: SimulationGiven,
  ): Promise<{ readonly variants: Variant[]; readonly anchors: string[] }>;
}

/** @throws CliError `usage` */
export function simulationNamed(name: string): NamedSimulation {
  const config = project();
  const simulation = config?.simulations.get(name);
  if (config === undefined || simulation === undefined) {
    const names = [...(config?.simulations.keys() ?? [])].join(', ') || 'none';
    throw new CliError('usage', `The config has no simulation ${name}. Its simulations: ${names}.`);
  }
  const { store: url, principals } = config;
  const { domain, simulators = {}, limits } = simulation;
  return {
    simulators,
    turns: limits.turns,
    prepared: async (store, trajectoryId, given) => {
      const found = given.domain.name;
      if (found !== domain)
        throw new CliError(
          'usage',
          `The simulation ${name} is for the domain ${domain}, and ${trajectoryId} has ${found}. Name a simulation for ${found}.`,
        );
      const root = findRootKey(url) ?? generateKeys();
      const granted = await new GrantIssuer(root, store, { principals }).allForCopy(trajectoryId);
      const writs = [...given.writs, ...granted];
      const variants = await configuredVariants(name, simulation, { ...given, writs }).catch(
        (error: unknown) => {
          throw withText(name, error);
        },
      );
      return { variants, anchors: [root.publicKey] };
    },
  };
}

/** The user of the command may read the text of the project's own code. */
function withText(name: string, error: unknown): unknown {
  const cause = isAssizeError(error, 'bad_simulation') ? error.cause : undefined;
  if (cause === undefined) return error;
  const why = thrownText(cause).replace(/\.$/, '');
  return new CliError(
    'bad_input',
    `The function variants of the simulation ${name} failed: ${why}.`,
    { cause },
  );
}
