import type { WritChain } from 'assize/host';
import type { Domain } from 'assize/internal/kernel';

/** The argument of the function `variants` of a configured simulation. */
export interface SimulationGiven {
  /** The domain of the trajectory, in the version in force at the shared entry. */
  readonly domain: Domain;
  /** One for each grant that counts in the trajectory. Its subject is an agent of the config. */
  readonly writs: readonly WritChain[];
  /** Ends with the simulation. */
  readonly signal: AbortSignal;
}
