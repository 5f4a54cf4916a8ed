import type { RoleRef } from '#ledger';

/**
 * Ways to continue recorded trajectories. Requests choose one by the name of the simulation. The
 * package of agents has the exact types of variants, and runs them.
 */
export interface SimulationConfig {
  /** One sentence for the people who choose. At most 500 characters. */
  readonly description?: string;
  /** Name of the domain of its trajectories. */
  readonly domain: string;
  /** A function is called for each simulation. */
  readonly variants: readonly SimulatedVariant[] | MakeVariants;
  /** By tool: a `ToolSimulator` that answers calls that the record does not have. */
  readonly simulators?: { readonly [tool: string]: any };
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

/** Receives a `SimulationGiven`. */
export type MakeVariants = (
  given: any,
) => readonly SimulatedVariant[] | Promise<readonly SimulatedVariant[]>;

/** A `Variant` whose agents need no writ. */
export interface SimulatedVariant {
  readonly name: string;
  readonly agents: readonly SimulatedAgent[];
  readonly [more: string]: any;
}

/** An `Agent`. Without a writ, it has that of its own name, or the only one. */
export interface SimulatedAgent {
  readonly name: string;
  readonly role: RoleRef;
  readonly writ?: any;
  decide(slice: any, oracle: any): any;
}
