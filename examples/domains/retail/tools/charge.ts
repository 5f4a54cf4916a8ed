import { rounded } from '../cents.ts';
import type { Dollars, RetailState } from '../schema.ts';
import { findMethod } from './find.ts';

/**
 * Takes an amount from a gift card, or refunds a negative amount to it. The bank charges other
 * methods, and only the order's payment history records the charge.
 */
export function charge(state: RetailState, user: string, id: string, amount: Dollars): void {
  const method = state.users[user]?.payment_methods[id];
  if (method?.source === 'gift_card') method.balance = rounded(method.balance - amount);
}

/**
 * The benchmark's checks of a payment method: it must be in the profile, and a gift card must cover
 * the amount.
 */
export function checkCovers(
  state: RetailState,
  user: string,
  { id, amount, short }: { id: string; amount: Dollars; short: string },
): void {
  const method = findMethod(state, user, id);
  if (method.source === 'gift_card' && method.balance < amount) throw new Error(short);
}
