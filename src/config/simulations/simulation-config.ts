import type { Agent, ToolSimulator, Variant } from '#agents';
import type { Domain } from '#kernel';
import type { WritChain } from '#runtime';

/** Ways to continue recorded trajectories, which requests choose by the name of the simulation. */
export interface SimulationConfig {
  /** One sentence for the people who choose. At most 500 characters. */
  readonly description?: string;
  /** Name of the domain of its trajectories. */
  readonly domain: string;
  /** A function is called for each simulation. */
  readonly variants: readonly SimulatedVariant[] | MakeVariants;
  /** By tool: the answers to calls that the record does not have. */
  readonly simulators?: { readonly [tool: string]: ToolSimulator };
  readonly limits?: SimulationBounds;
}

/** The limits of one request, because a model of a variant can cost money. */
export interface SimulationBounds {
  /** The most samples of each variant: 1 to 100. Default: 5. */
  readonly samples?: number;
  /** The most turns of a sample: 1 to 10,000. Default: 100. */
  readonly turns?: number;
  /** The most seconds of a simulation at a server: 1 to 50. Default: 30. */
  readonly seconds?: number;
}

export type MakeVariants = (
  given: SimulationGiven,
) => readonly SimulatedVariant[] | Promise<readonly SimulatedVariant[]>;

export interface SimulationGiven {
  /** The domain of the trajectory, in the version in force at the shared entry. */
  readonly domain: Domain;
  /** One for each grant that counts in the trajectory. Its subject is an agent of the config. */
  readonly writs: readonly WritChain[];
  /** Ends with the simulation. */
  readonly signal: AbortSignal;
}

/** A variant whose agents need no writ. */
export interface SimulatedVariant extends Omit<Variant, 'agents'> {
  readonly agents: readonly SimulatedAgent[];
}

/** Without a writ, the agent has that of its own name, or the only one. */
export type SimulatedAgent = Omit<Agent, 'writ'> & Partial<Pick<Agent, 'writ'>>;
