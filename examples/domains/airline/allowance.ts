import type { Cabin, Membership } from './schema.ts';

/**
 * Free checked bags for each passenger, by the booking user's membership (policy.md, Book flight).
 */
const FREE_BAGS: Record<Membership, Record<Cabin, number>> = {
  regular: { basic_economy: 0, economy: 1, business: 2 },
  silver: { basic_economy: 1, economy: 2, business: 3 },
  gold: { basic_economy: 2, economy: 3, business: 3 },
};

export function freeBags(of: { membership: Membership; cabin: Cabin; passengers: number }): number {
  return FREE_BAGS[of.membership][of.cabin] * of.passengers;
}
