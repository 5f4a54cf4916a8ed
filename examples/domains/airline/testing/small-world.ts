import { airlineInitial } from '../initial.ts';
import type {
  AirlineState,
  Flight,
  FlightDay,
  Membership,
  Reservation,
  Segment,
  User,
} from '../schema.ts';

/**
 * A state small enough to read in one go. Three airports are in a row, AAA – BBB – CCC. `ann` has
 * one reservation `R`: economy from AAA to CCC, uninsured, booked two weeks ago. A test changes its
 * own subject.
 */
export function smallWorld(change: (state: AirlineState) => void = () => {}): AirlineState {
  const state = airlineInitial({
    users: { ann: user('regular') },
    flights: {
      AB: flight('AB', 'AAA', 'BBB'),
      BC: flight('BC', 'BBB', 'CCC'),
      AC: flight('AC', 'AAA', 'CCC'),
      CA: flight('CA', 'CCC', 'AAA'),
      AD: flight('AD', 'AAA', 'DDD'),
    },
    reservations: { R: reservation() },
  });
  change(state);
  return state;
}

/** The day of all flights. */
export const DAY = '2024-05-20';

export function segment(flight_number: string, price = 100): Segment {
  const [origin = '', destination = ''] = [...flight_number].map((letter) => letter.repeat(3));
  return { flight_number, date: DAY, origin, destination, price };
}

export function passengers(count: number): Reservation['passengers'] {
  return Array.from({ length: count }, (_, i) => ({
    first_name: `P${i}`,
    last_name: 'Lee',
    dob: '1990-01-01',
  }));
}

/** Puts a flight of the day into another status. */
export function setStatus(
  state: AirlineState,
  flight_number: string,
  status: 'cancelled' | 'delayed' | 'landed',
): void {
  const days: Record<typeof status, FlightDay> = {
    cancelled: { status: 'cancelled' },
    delayed: {
      status: 'delayed',
      estimated_departure_time_est: `${DAY}T10:00:00`,
      estimated_arrival_time_est: `${DAY}T12:00:00`,
    },
    landed: {
      status: 'landed',
      actual_departure_time_est: `${DAY}T10:00:00`,
      actual_arrival_time_est: `${DAY}T12:00:00`,
    },
  };
  const found = state.flights[flight_number];
  if (found !== undefined) found.dates[DAY] = days[status];
}

/** The arguments of a valid booking: one passenger, AAA to CCC, 100 dollars from a card. */
export function bookingArgs(change: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    user_id: 'ann',
    origin: 'AAA',
    destination: 'CCC',
    flight_type: 'one_way',
    cabin: 'economy',
    flights: [{ flight_number: 'AC', date: DAY }],
    passengers: passengers(1),
    payment_methods: [{ payment_id: 'card', amount: 100 }],
    total_baggages: 0,
    nonfree_baggages: 0,
    insurance: 'no',
    ...change,
  };
}

function user(membership: Membership): User {
  return {
    name: { first_name: 'Ann', last_name: 'Lee' },
    address: { address1: '1 Main', address2: '', city: 'A', country: 'USA', state: 'NY', zip: '1' },
    email: 'ann@example.com',
    dob: '1990-01-01',
    payment_methods: {
      card: { id: 'card', source: 'credit_card', brand: 'visa', last_four: '1234' },
      card2: { id: 'card2', source: 'credit_card', brand: 'visa', last_four: '5678' },
      gift: { id: 'gift', source: 'gift_card', amount: 500 },
      voucher: { id: 'voucher', source: 'certificate', amount: 60 },
      voucher2: { id: 'voucher2', source: 'certificate', amount: 60 },
    },
    saved_passengers: [],
    membership,
    reservations: ['R'],
  };
}

function flight(flight_number: string, origin: string, destination: string): Flight {
  return {
    flight_number,
    origin,
    destination,
    scheduled_departure_time_est: '10:00:00',
    scheduled_arrival_time_est: '12:00:00',
    dates: {
      [DAY]: {
        status: 'available',
        available_seats: { basic_economy: 9, economy: 9, business: 9 },
        prices: { basic_economy: 50, economy: 100, business: 300 },
      },
    },
  };
}

function reservation(): Reservation {
  return {
    reservation_id: 'R',
    user_id: 'ann',
    origin: 'AAA',
    destination: 'CCC',
    flight_type: 'one_way',
    cabin: 'economy',
    flights: [segment('AB'), segment('BC')],
    passengers: passengers(1),
    payment_history: [{ payment_id: 'card', amount: 200 }],
    created_at: '2024-05-01T10:00:00',
    total_baggages: 1,
    nonfree_baggages: 0,
    insurance: 'no',
  };
}
