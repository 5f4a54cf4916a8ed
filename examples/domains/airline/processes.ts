import type { Process } from 'assize/internal/kernel';

/**
 * The footprint of each tool, and thereby the limits of all tools. Only a booking writes insurance,
 * route, trip type, owner and cabin of a reservation. No tool writes flights or their prices. Event
 * rows can be added, never rewritten.
 */
export const processes: Record<
  'booking' | 'rebooking' | 'baggage' | 'passengers' | 'cancellation' | 'compensation',
  Process
> = {
  booking: {
    reads: ['/now', '/users', '/flights', '/reservations'],
    writes: [
      '/reservations/*',
      '/users/*/payment_methods',
      '/users/*/reservations/-',
      '/booked/*',
      '/itineraries/*/-',
      '/bags/*/-',
    ],
  },
  rebooking: {
    reads: ['/now', '/users', '/flights', '/reservations', '/itineraries'],
    writes: [
      '/reservations/*/flights',
      '/reservations/*/payment_history/-',
      '/users/*/payment_methods',
      '/itineraries/*/-',
    ],
  },
  baggage: {
    reads: ['/now', '/users', '/reservations', '/itineraries', '/bags'],
    writes: [
      '/reservations/*/total_baggages',
      '/reservations/*/nonfree_baggages',
      '/reservations/*/payment_history/-',
      '/users/*/payment_methods',
      '/bags/*/-',
    ],
  },
  passengers: {
    reads: ['/reservations'],
    writes: ['/reservations/*/passengers'],
  },
  cancellation: {
    reads: ['/now', '/flights', '/reservations', '/itineraries', '/bags', '/cancellations'],
    writes: ['/reservations/*/status', '/reservations/*/payment_history/-', '/cancellations/*'],
  },
  compensation: {
    reads: ['/now', '/users', '/flights', '/reservations', '/itineraries', '/certificates'],
    writes: ['/users/*/payment_methods', '/certificates/*/-'],
  },
};
