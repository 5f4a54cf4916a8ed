import { describe, expect, test } from 'vitest';
import { airlineState, flight, reservation, user } from './schema.ts';
import { airlineRecords, airlineWorld, hasAirline } from './testing/data.ts';

describe.skipIf(!hasAirline)(
  'the benchmark’s records (tau-airline, absent without ASSIZE_DATA)',
  () => {
    test('every record fits its schema as it is', () => {
      const { users, flights, reservations } = airlineRecords();
      for (const record of Object.values(users)) expect(user.parse(record)).toEqual(record);
      for (const record of Object.values(flights)) expect(flight.parse(record)).toEqual(record);
      for (const record of Object.values(reservations))
        expect(reservation.parse(record)).toEqual(record);
    });

    test('the initial state fits, and a member that no schema names does not', () => {
      const world = airlineWorld();
      expect(airlineState.safeParse(world).success).toBe(true);
      const [id = ''] = Object.keys(world.reservations);
      Object.assign(world.reservations[id] ?? {}, { seat: '12A' });
      expect(airlineState.safeParse(world).success).toBe(false);
    });
  },
);
