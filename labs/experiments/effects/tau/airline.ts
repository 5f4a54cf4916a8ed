import type { Json } from 'assize/internal/base';
import { segment } from 'assize/internal/effects';
import type { ApplyContext } from 'assize/internal/kernel';
import { z } from 'zod';
import {
  type AirlineRecords,
  type AirlineState,
  airline,
  airlineInitial,
} from '../../../../examples/domains/airline/index.ts';
import { COMMON } from './common.ts';
import { type Args, copyOf, type Desk, type DeskTool, differing, notEmpty } from './desk.ts';
import { Layer, type Layers } from './layer.ts';

type Flight = AirlineState['flights'][string];
type Reservation = AirlineState['reservations'][string];

/** Airports by their IATA code, with their cities, as the benchmark has them in its code. */
const CITIES = {
  SFO: 'San Francisco',
  JFK: 'New York',
  LAX: 'Los Angeles',
  ORD: 'Chicago',
  DFW: 'Dallas',
  DEN: 'Denver',
  SEA: 'Seattle',
  ATL: 'Atlanta',
  MIA: 'Miami',
  BOS: 'Boston',
  PHX: 'Phoenix',
  IAH: 'Houston',
  LAS: 'Las Vegas',
  MCO: 'Orlando',
  EWR: 'Newark',
  CLT: 'Charlotte',
  MSP: 'Minneapolis',
  DTW: 'Detroit',
  PHL: 'Philadelphia',
  LGA: 'LaGuardia',
};

/**
 * Collections that the tools write. The records come first. The others are for the policy alone:
 * no code here applies it.
 */
const WRITTEN = [
  'users',
  'reservations',
  'booked',
  'itineraries',
  'bags',
  'cancellations',
  'certificates',
] as const;

/** The airline's booking service: the domain's own tools, without its policy. */
export function airlineDesk(records: AirlineRecords): Desk {
  const initial = airlineInitial(records);
  const { now, flights } = initial;
  const begin: Layers = Object.fromEntries(
    WRITTEN.map((name) => [name, new Layer<unknown>(initial[name])]),
  );
  const ownerOf = ({ reservation_id }: Args): string[] => {
    const owner = records.reservations[reservation_id]?.user_id;
    return owner === undefined ? [] : [`users:${segment(owner)}`];
  };
  const apply = (name: keyof typeof airline.actions, layers: Layers, args: Args): void => {
    const opened = Object.fromEntries(
      WRITTEN.map((collection) => [collection, layers[collection]!.open()]),
    );
    const state = { now, flights, ...opened } as unknown as AirlineState;
    airline.actions[name].apply(state, args, { role: {} } as ApplyContext<any>);
  };
  const change = (
    name: keyof typeof airline.actions,
    rest: Pick<DeskTool, 'reads' | 'writes'>,
    answer: (layers: Layers, args: Args) => Json = (layers, args) => reservationOf(layers, args),
    sort: DeskTool['sort'] = 'free',
  ): DeskTool => ({
    input: airline.actions[name].args,
    sort,
    ...rest,
    serve: (layers, args) => {
      apply(name, layers, args);
      return answer(layers, args);
    },
  });
  const segments = (args: Args): string[] =>
    args.flights.map(({ flight_number }: Args) => `flights:${segment(flight_number)}`);
  return {
    name: 'airline',
    begin,
    tools: {
      ...COMMON,
      book_reservation: change(
        'book_reservation',
        // A booking gets the next free number.
        {
          reads: segments,
          writes: ({ user_id }) => [`users:${segment(user_id)}`, 'reservations:*'],
        },
        (layers, { user_id }) =>
          recordOf(layers, 'reservations', userOf(layers, user_id).reservations.at(-1)!),
      ),
      cancel_reservation: change(
        'cancel_reservation',
        { writes: reservationScope },
        undefined,
        'final',
      ),
      send_certificate: change(
        'send_certificate',
        { writes: ({ user_id }) => [`users:${segment(user_id)}`] },
        (layers, { user_id, amount }) => {
          const id = Object.keys(userOf(layers, user_id).payment_methods).at(-1);
          return `Certificate ${id} added to user ${user_id} with amount ${amount}.`;
        },
      ),
      update_reservation_baggages: change('update_reservation_baggages', {
        writes: (args) => [...reservationScope(args), ...ownerOf(args)],
      }),
      update_reservation_flights: change('update_reservation_flights', {
        reads: segments,
        writes: (args) => [...reservationScope(args), ...ownerOf(args)],
      }),
      update_reservation_passengers: change('update_reservation_passengers', {
        writes: reservationScope,
      }),
      get_reservation_details: {
        input: z.strictObject({ reservation_id: z.string() }),
        sort: 'look',
        reads: reservationScope,
        serve: (layers, args) => reservationOf(layers, args),
      },
      get_user_details: {
        input: z.strictObject({ user_id: z.string() }),
        sort: 'look',
        reads: ({ user_id }) => [`users:${segment(user_id)}`],
        serve: (layers, { user_id }) => copyOf(userOf(layers, user_id)),
      },
      list_all_airports: { input: z.strictObject({}), sort: 'look', serve: () => CITIES },
      search_direct_flight: {
        input: z.strictObject({ origin: z.string(), destination: z.string(), date: z.string() }),
        sort: 'look',
        reads: () => ['flights:*'],
        serve: (_, args) => copyOf(direct(Object.values(flights), args)),
      },
      search_onestop_flight: {
        input: z.strictObject({ origin: z.string(), destination: z.string(), date: z.string() }),
        sort: 'look',
        reads: () => ['flights:*'],
        serve: (_, args) => copyOf(onestop(Object.values(flights), args)),
      },
    },
    changed: (layers) => {
      const rowsOf = (name: 'users' | 'reservations') =>
        layers[name]!.touched.map((id) => [id, layers[name]!.peek(id), records[name][id]] as const);
      return notEmpty({
        users: differing(rowsOf('users')),
        reservations: differing(rowsOf('reservations')),
      });
    },
  };
}

function reservationScope({ reservation_id }: Args): string[] {
  return [`reservations:${segment(reservation_id)}`];
}

function reservationOf(layers: Layers, { reservation_id }: Args): Json {
  return recordOf(layers, 'reservations', reservation_id);
}

function recordOf(layers: Layers, collection: string, id: string): Json {
  const record = layers[collection]!.peek(id) as Reservation | undefined;
  if (record === undefined) throw new Error('reservation not found');
  return copyOf(record);
}

function userOf(layers: Layers, id: string): AirlineState['users'][string] {
  const user = layers['users']!.peek(id);
  if (user === undefined) throw new Error('user not found');
  return user;
}

/** The search result for a flight that is on sale. */
function onSale(flight: Flight, date: string) {
  return flight.dates[date]?.status === 'available' ? listed(flight, date) : undefined;
}

function listed({ dates, ...flight }: Flight, date: string) {
  return { ...flight, ...dates[date] };
}

function direct(flights: readonly Flight[], { origin, destination, date }: Args) {
  return flights
    .filter((flight) => flight.origin === origin && flight.destination === destination)
    .flatMap((flight) => onSale(flight, date) ?? []);
}

/**
 * Pairs of flights. The second flight leaves after the first one has landed. If the first one lands
 * past midnight, the second one leaves on the next day of May. As in the benchmark's code, both
 * have the seats and prices of the first day.
 */
function onestop(flights: readonly Flight[], { origin, destination, date }: Args) {
  return flights
    .filter((first) => first.origin === origin)
    .flatMap((first) =>
      flights
        .filter(
          (second) => second.destination === destination && second.origin === first.destination,
        )
        .flatMap((second) => {
          const isNextDay = first.scheduled_arrival_time_est.includes('+1');
          const then = isNextDay ? `2024-05-${Number(date.slice(-2)) + 1}` : date;
          if (first.scheduled_arrival_time_est > second.scheduled_departure_time_est) return [];
          const one = onSale(first, date);
          if (one === undefined || onSale(second, then) === undefined) return [];
          return [
            [
              { ...one, date },
              { ...listed(second, date), date: then },
            ],
          ];
        }),
    );
}
