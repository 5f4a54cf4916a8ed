/**
 * The airline's state. `users`, `flights` and `reservations` are the benchmark's records and stay
 * comparable with them, field for field. Other data of the policy is in separate collections: event
 * rows record a change with its circumstances, so a later state never checks the change again.
 */
import { z } from 'zod';

/** Local time of the airline (EST), as its records have it: `2024-05-15T15:00:00`. */
export type EstTime = string;
export type Cabin = 'basic_economy' | 'economy' | 'business';
export type FlightType = 'one_way' | 'round_trip';
export type Insurance = 'yes' | 'no';
export type Membership = 'regular' | 'silver' | 'gold';
export type PaymentSource = 'credit_card' | 'gift_card' | 'certificate';

export type PaymentMethod =
  | { id: string; source: 'credit_card'; brand: string; last_four: string }
  | { id: string; source: 'gift_card'; amount: number }
  | { id: string; source: 'certificate'; amount: number };

export interface Passenger {
  first_name: string;
  last_name: string;
  dob: string;
}

export interface User {
  name: { first_name: string; last_name: string };
  address: {
    address1: string;
    address2: string;
    city: string;
    country: string;
    state: string;
    zip: string;
  };
  email: string;
  dob: string;
  payment_methods: Record<string, PaymentMethod>;
  saved_passengers: Passenger[];
  membership: Membership;
  reservations: string[];
}

export type PerCabin = Record<Cabin, number>;

export type FlightDay =
  | { status: 'available'; available_seats: PerCabin; prices: PerCabin }
  | {
      status: 'on time' | 'delayed';
      estimated_departure_time_est: EstTime;
      estimated_arrival_time_est: EstTime;
    }
  | { status: 'flying'; actual_departure_time_est: EstTime; estimated_arrival_time_est: EstTime }
  | { status: 'landed'; actual_departure_time_est: EstTime; actual_arrival_time_est: EstTime }
  | { status: 'cancelled' };

export type FlightStatus = FlightDay['status'];

export interface Flight {
  flight_number: string;
  origin: string;
  destination: string;
  scheduled_departure_time_est: string;
  scheduled_arrival_time_est: string;
  dates: Record<string, FlightDay>;
}

export interface Segment {
  flight_number: string;
  date: string;
  origin: string;
  destination: string;
  price: number;
}

export interface PaymentEntry {
  payment_id: string;
  amount: number;
}

export interface Reservation {
  reservation_id: string;
  user_id: string;
  origin: string;
  destination: string;
  flight_type: FlightType;
  /**
   * The cabin as booked: the tools never write a changed one here. `itineraries` has the cabin in
   * force.
   */
  cabin: Cabin;
  flights: Segment[];
  passengers: Passenger[];
  payment_history: PaymentEntry[];
  created_at: EstTime;
  total_baggages: number;
  nonfree_baggages: number;
  insurance: Insurance;
  status?: 'cancelled' | undefined;
}

/**
 * `/booked/{reservation}`: a booking as it was made. `payment_history` is extended later, this
 * record is not.
 */
export interface Booked {
  at: EstTime;
  user_id: string;
  passengers: number;
  insurance: Insurance;
  payments: { payment_id: string; source: PaymentSource; amount: number }[];
}

/**
 * A segment as sold. `listed` is its price of the day in the new cabin, absent if the flight is not
 * on sale.
 */
export interface SoldSegment extends Segment {
  listed?: number | undefined;
}

/** `/itineraries/{reservation}/-`: flights and cabin after a booking (no `before`) or a change. */
export interface ItineraryRow {
  at: EstTime;
  origin: string;
  destination: string;
  flight_type: FlightType;
  /** The cabin in force from here on. */
  cabin: Cabin;
  segments: SoldSegment[];
  before?: { cabin: Cabin; segments: Segment[] } | undefined;
}

/**
 * `/bags/{reservation}/-`: checked bags after a booking (no `before`) or a change, and the facts
 * that decide the free bags at that time.
 */
export interface BagsRow {
  at: EstTime;
  total: number;
  nonfree: number;
  cabin: Cabin;
  membership: Membership;
  passengers: number;
  before?: { total: number; nonfree: number } | undefined;
}

/**
 * `/cancellations/{reservation}`: the first cancellation of a reservation, with the facts it is
 * checked on.
 */
export interface Cancellation {
  at: EstTime;
  booked_at: EstTime;
  cabin: Cabin;
  insurance: Insurance;
  segments: { flight_number: string; date: string; status: FlightStatus }[];
  /** All that had been paid or paid back until then. */
  payments: PaymentEntry[];
  /** How many changes the reservation had behind it. */
  changes: number;
  passengers: Passenger[];
  approved_by?: string | undefined;
  approved_at?: string | undefined;
}

export type Ground = 'cancelled' | 'delayed';

/**
 * A reservation with a cancelled or delayed flight, as it stood when a certificate was sent to its
 * owner.
 */
export interface Incident {
  reservation_id: string;
  ground: Ground;
  membership: Membership;
  insurance: Insurance;
  cabin: Cabin;
  passengers: number;
  /** The reservation had been changed or cancelled. */
  settled: boolean;
  /** A certificate had been sent for it already. */
  compensated: boolean;
}

/**
 * `/certificates/{user}/-`: a certificate sent, and every incident it could be meant for. The tool
 * names no incident.
 */
export interface CertificateRow {
  at: EstTime;
  payment_id: string;
  amount: number;
  incidents: Incident[];
  /** The incident that entitles to exactly this amount, if one does. */
  reservation_id?: string | undefined;
  ground?: Ground | undefined;
  approved_by?: string | undefined;
  approved_at?: string | undefined;
}

export interface AirlineState {
  now: EstTime;
  users: Record<string, User>;
  flights: Record<string, Flight>;
  reservations: Record<string, Reservation>;
  booked: Record<string, Booked>;
  itineraries: Record<string, ItineraryRow[]>;
  bags: Record<string, BagsRow[]>;
  cancellations: Record<string, Cancellation>;
  certificates: Record<string, CertificateRow[]>;
}

const estTime: z.ZodString = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
const day: z.ZodString = z.string().regex(/^\d{4}-\d\d-\d\d$/);
const dollars: z.ZodNumber = z.number();

export const cabin: z.ZodType<Cabin> = z.enum(['basic_economy', 'economy', 'business']);
export const flightType: z.ZodType<FlightType> = z.enum(['one_way', 'round_trip']);
export const insurance: z.ZodType<Insurance> = z.enum(['yes', 'no']);
const membership: z.ZodType<Membership> = z.enum(['regular', 'silver', 'gold']);
const source: z.ZodType<PaymentSource> = z.enum(['credit_card', 'gift_card', 'certificate']);
const status: z.ZodType<FlightStatus> = z.enum([
  'available',
  'on time',
  'delayed',
  'flying',
  'landed',
  'cancelled',
]);
const ground: z.ZodType<Ground> = z.enum(['cancelled', 'delayed']);

export const passenger: z.ZodType<Passenger> = z.strictObject({
  first_name: z.string(),
  last_name: z.string(),
  dob: z.string(),
});

const paymentMethod: z.ZodType<PaymentMethod> = z.union([
  z.strictObject({
    id: z.string(),
    source: z.literal('credit_card'),
    brand: z.string(),
    last_four: z.string(),
  }),
  z.strictObject({ id: z.string(), source: z.literal('gift_card'), amount: dollars }),
  z.strictObject({ id: z.string(), source: z.literal('certificate'), amount: dollars }),
]);

export const user: z.ZodType<User> = z.strictObject({
  name: z.strictObject({ first_name: z.string(), last_name: z.string() }),
  address: z.strictObject({
    address1: z.string(),
    address2: z.string(),
    city: z.string(),
    country: z.string(),
    state: z.string(),
    zip: z.string(),
  }),
  email: z.string(),
  dob: z.string(),
  payment_methods: z.record(z.string(), paymentMethod),
  saved_passengers: z.array(passenger),
  membership,
  reservations: z.array(z.string()),
});

const perCabin: z.ZodType<PerCabin> = z.strictObject({
  basic_economy: z.int(),
  economy: z.int(),
  business: z.int(),
});

const flightDay: z.ZodType<FlightDay> = z.union([
  z.strictObject({ status: z.literal('available'), available_seats: perCabin, prices: perCabin }),
  z.strictObject({
    status: z.enum(['on time', 'delayed']),
    estimated_departure_time_est: estTime,
    estimated_arrival_time_est: estTime,
  }),
  z.strictObject({
    status: z.literal('flying'),
    actual_departure_time_est: estTime,
    estimated_arrival_time_est: estTime,
  }),
  z.strictObject({
    status: z.literal('landed'),
    actual_departure_time_est: estTime,
    actual_arrival_time_est: estTime,
  }),
  z.strictObject({ status: z.literal('cancelled') }),
]);

export const flight: z.ZodType<Flight> = z.strictObject({
  flight_number: z.string(),
  origin: z.string(),
  destination: z.string(),
  scheduled_departure_time_est: z.string(),
  scheduled_arrival_time_est: z.string(),
  dates: z.record(day, flightDay),
});

const segmentShape = {
  flight_number: z.string(),
  date: day,
  origin: z.string(),
  destination: z.string(),
  price: dollars,
};
const segment: z.ZodType<Segment> = z.strictObject(segmentShape);
const soldSegment: z.ZodType<SoldSegment> = z.strictObject({
  ...segmentShape,
  listed: dollars.optional(),
});
const paymentEntry: z.ZodType<PaymentEntry> = z.strictObject({
  payment_id: z.string(),
  amount: dollars,
});

export const reservation: z.ZodType<Reservation> = z.strictObject({
  reservation_id: z.string(),
  user_id: z.string(),
  origin: z.string(),
  destination: z.string(),
  flight_type: flightType,
  cabin,
  flights: z.array(segment),
  passengers: z.array(passenger),
  payment_history: z.array(paymentEntry),
  created_at: estTime,
  total_baggages: z.int(),
  nonfree_baggages: z.int(),
  insurance,
  status: z.literal('cancelled').optional(),
});

const booked: z.ZodType<Booked> = z.strictObject({
  at: estTime,
  user_id: z.string(),
  passengers: z.int(),
  insurance,
  payments: z.array(z.strictObject({ payment_id: z.string(), source, amount: dollars })),
});

const itineraryRow: z.ZodType<ItineraryRow> = z.strictObject({
  at: estTime,
  origin: z.string(),
  destination: z.string(),
  flight_type: flightType,
  cabin,
  segments: z.array(soldSegment),
  before: z.strictObject({ cabin, segments: z.array(segment) }).optional(),
});

const bagsRow: z.ZodType<BagsRow> = z.strictObject({
  at: estTime,
  total: z.int(),
  nonfree: z.int(),
  cabin,
  membership,
  passengers: z.int(),
  before: z.strictObject({ total: z.int(), nonfree: z.int() }).optional(),
});

const cancellation: z.ZodType<Cancellation> = z.strictObject({
  at: estTime,
  booked_at: estTime,
  cabin,
  insurance,
  segments: z.array(z.strictObject({ flight_number: z.string(), date: day, status })),
  payments: z.array(paymentEntry),
  changes: z.int(),
  passengers: z.array(passenger),
  approved_by: z.string().optional(),
  approved_at: z.string().optional(),
});

const incident: z.ZodType<Incident> = z.strictObject({
  reservation_id: z.string(),
  ground,
  membership,
  insurance,
  cabin,
  passengers: z.int(),
  settled: z.boolean(),
  compensated: z.boolean(),
});

const certificateRow: z.ZodType<CertificateRow> = z.strictObject({
  at: estTime,
  payment_id: z.string(),
  amount: dollars,
  incidents: z.array(incident),
  reservation_id: z.string().optional(),
  ground: ground.optional(),
  approved_by: z.string().optional(),
  approved_at: z.string().optional(),
});

/** The three files of the benchmark's database. */
export type AirlineRecords = Pick<AirlineState, 'users' | 'flights' | 'reservations'>;

const recordsShape = {
  users: z.record(z.string(), user),
  flights: z.record(z.string(), flight),
  reservations: z.record(z.string(), reservation),
};

export const airlineRecords: z.ZodType<AirlineRecords> = z.strictObject(recordsShape);

export const airlineState: z.ZodType<AirlineState> = z.strictObject({
  now: estTime,
  ...recordsShape,
  booked: z.record(z.string(), booked),
  itineraries: z.record(z.string(), z.array(itineraryRow)),
  bags: z.record(z.string(), z.array(bagsRow)),
  cancellations: z.record(z.string(), cancellation),
  certificates: z.record(z.string(), z.array(certificateRow)),
});
