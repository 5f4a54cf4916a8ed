import type { FlightType, Segment } from './schema.ts';

/** Where a reservation goes; never changes after booking. */
export interface Trip {
  readonly origin: string;
  readonly destination: string;
  readonly flight_type: FlightType;
}

/**
 * The reason why the flights do not lead from the origin to the destination, one after the other.
 * Undefined if they do.
 */
export function routeFault(
  { origin, destination }: Trip,
  segments: readonly Segment[],
): string | undefined {
  const gap = segments.find(
    (segment, i) => i > 0 && segment.origin !== segments[i - 1]?.destination,
  );
  if (gap !== undefined)
    return `${gap.flight_number} does not leave from where the flight before it lands`;
  if (segments[0]?.origin !== origin)
    return `the trip starts at ${segments[0]?.origin ?? 'no airport'}, not ${origin}`;
  const reached = segments.some((segment) => segment.destination === destination);
  return reached ? undefined : `no flight reaches ${destination}`;
}

/** How the flights fail to be a one-way trip or a round trip; undefined when they are. */
export function tripTypeFault(
  { origin, destination, flight_type }: Trip,
  segments: readonly Segment[],
): string | undefined {
  const last = segments.at(-1)?.destination ?? 'no airport';
  const [kind, end] = flight_type === 'one_way' ? ['one-way', destination] : ['round', origin];
  return last === end ? undefined : `a ${kind} trip ends at ${end}, not ${last}`;
}
