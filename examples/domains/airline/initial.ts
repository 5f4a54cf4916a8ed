import { arg, checkArgument } from 'assize/internal/base';
import type { AirlineRecords, AirlineState, EstTime } from './schema.ts';

/** The moment at which the benchmark's world stands still (policy.md, first line). */
export const AIRLINE_NOW: EstTime = '2024-05-15T15:00:00';

/**
 * The state before the first proposal: the records as they are, and no event yet.
 *
 * @throws ArgumentError `bad_argument`
 */
export function airlineInitial(records: AirlineRecords, now: EstTime = AIRLINE_NOW): AirlineState {
  checkArgument(
    arg.members({ users: arg.object, flights: arg.object, reservations: arg.object }),
    records,
    'records',
  );
  const { users, flights, reservations } = records;
  return {
    now,
    users,
    flights,
    reservations,
    booked: {},
    itineraries: {},
    bags: {},
    cancellations: {},
    certificates: {},
  };
}
