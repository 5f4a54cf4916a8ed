import type { AirlineState, Cabin, Segment } from '../schema.ts';

/** The information that a tool receives about a segment. */
export interface SegmentChoice {
  flight_number: string;
  date: string;
}

/** The segment as it is sold today, or the benchmark's reason why it is not. */
export function offer(
  state: AirlineState,
  { flight_number, date }: SegmentChoice,
  { cabin, seats }: { cabin: Cabin; seats: number },
): Segment {
  const flight = state.flights[flight_number];
  if (flight === undefined) throw new Error(`flight ${flight_number} not found`);
  const day = flight.dates[date];
  if (day === undefined) throw new Error(`flight ${flight_number} not found on date ${date}`);
  if (day.status !== 'available')
    throw new Error(`flight ${flight_number} not available on date ${date}`);
  if (day.available_seats[cabin] < seats)
    throw new Error(`not enough seats on flight ${flight_number}`);
  return {
    flight_number,
    date,
    origin: flight.origin,
    destination: flight.destination,
    price: day.prices[cabin],
  };
}

/**
 * Today's price of a seat, whether or not one is left; undefined when the flight is not on sale
 * that day.
 */
export function listedPrice(
  state: AirlineState,
  { flight_number, date }: SegmentChoice,
  cabin: Cabin,
): number | undefined {
  const day = state.flights[flight_number]?.dates[date];
  return day?.status === 'available' ? day.prices[cabin] : undefined;
}
