import { numberOf } from './choices.ts';

/** The choices of a simulation, as the address of the page has them. */
export interface SimulationChoices {
  /** The name of a configured simulation. */
  readonly simulation: string | undefined;
  /** The last entry that is shared with the record. Absent: the first one. */
  readonly at: number | undefined;
  readonly samples: number;
}

export function simulationChoicesOf(search: URLSearchParams): SimulationChoices {
  return {
    simulation: search.get('simulation') ?? undefined,
    at: numberOf(search.get('at')),
    samples: numberOf(search.get('samples')) ?? 1,
  };
}

/** The address of a simulation from an entry on. */
export function simulationHref(trajectory: string, at: number): string {
  return `/what-if/${encodeURIComponent(trajectory)}?try=simulation&at=${at}`;
}
