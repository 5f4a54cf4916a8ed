import { rounded } from '../cents.ts';
import type { Dollars, RetailState } from '../schema.ts';

/**
 * Takes an amount from a gift card, or pays a negative one back to it. Other methods are charged at the bank, and only
 * the order's payment history knows of it.
 */
export function charge(state: RetailState, user: string, id: string, amount: Dollars): void {
  const method = state.users[user]?.payment_methods[id];
  if (method?.source === 'gift_card') method.balance = rounded(method.balance - amount);
}
