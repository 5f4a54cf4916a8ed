import type { AirlineState, PaymentMethod } from '../schema.ts';

/**
 * Charges a change of a reservation to its owner's method. A negative amount is refunded to a gift
 * card.
 */
export function charge(
  state: AirlineState,
  { user_id, payment_id, amount }: { user_id: string; payment_id: string; amount: number },
): void {
  const method = state.users[user_id]?.payment_methods[payment_id];
  assertPayable(method, amount);
  if (method.source === 'gift_card') method.amount -= amount;
}

function assertPayable(
  method: PaymentMethod | undefined,
  amount: number,
): asserts method is PaymentMethod {
  if (method === undefined) throw new Error('payment method not found');
  if (method.source === 'certificate')
    throw new Error('certificate cannot be used to update reservation');
  if (method.source === 'gift_card' && method.amount < amount)
    throw new Error('gift card balance is not enough');
}
