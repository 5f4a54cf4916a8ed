import { type Call, type Recorded, TauData } from '../../../../tests/support/models/tau-data.ts';
import { airlineInitial } from '../initial.ts';
import type { AirlineRecords, AirlineState } from '../schema.ts';
import { airlineTools } from '../tools.ts';

export type { Call, Recorded };

const data = new TauData('tau-airline');

export const hasAirline: boolean = data.isThere;

export function airlineRecords(): AirlineRecords {
  return {
    users: data.collection('users'),
    flights: data.collection('flights'),
    reservations: data.collection('reservations'),
  };
}

export function airlineWorld(): AirlineState {
  return airlineInitial(airlineRecords());
}

/** The 100 runs of an agent. */
export function recordedRuns(): Recorded[] {
  return data.runs();
}

/** The benchmark's own solutions of its 50 tasks. */
export function recordedSolutions(): Recorded[] {
  return data.solutions();
}

export function isWrite({ name }: Call): boolean {
  return (airlineTools.writes as readonly string[]).includes(name);
}
