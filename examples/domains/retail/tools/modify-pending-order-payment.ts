import { z } from 'zod';
import type { PaymentEntry } from '../schema.ts';
import { charge, checkCovers } from './charge.ts';
import { findMethod, findOrder, namedMethod } from './find.ts';
import { record } from './record.ts';
import type { Tool } from './tool.ts';

export interface ModifyPendingOrderPayment {
  order_id: string;
  payment_method_id: string;
}

export const modifyPendingOrderPayment: Tool<'repayment', ModifyPendingOrderPayment> = {
  process: 'repayment',
  description: 'Pay a pending order with another method, and the first one back.',
  args: z.object({ order_id: z.string(), payment_method_id: z.string() }),
  check: (state, { order_id, payment_method_id: id }, user) => {
    const { status, payment_history } = findOrder(state, user, order_id);
    if (status !== 'pending') throw new Error('non-pending order cannot be modified');
    findMethod(state, user, id);
    const { transaction_type, amount, payment_method_id } = firstOf(payment_history);
    if (payment_history.length > 1 || transaction_type !== 'payment') {
      throw new Error('there should be exactly one payment for a pending order');
    }
    if (payment_method_id === id)
      throw new Error('the new payment method should be different from the current one');
    checkCovers(state, user, {
      id,
      amount,
      short: 'insufficient gift card balance to pay for the order',
    });
  },
  perform: (state, { order_id, payment_method_id: id }, user) => {
    const order = findOrder(state, user, order_id);
    const { amount, payment_method_id: original } = firstOf(order.payment_history);
    record(state, user, order_id, {
      kind: 'payment',
      status: order.status,
      payments: order.payment_history.map((entry) => ({ ...entry })),
      method: namedMethod(state, user, id),
      amount,
    });
    order.payment_history.push(
      { transaction_type: 'payment', amount, payment_method_id: id },
      { transaction_type: 'refund', amount, payment_method_id: original },
    );
    charge(state, user, id, amount);
    charge(state, user, original, -amount);
  },
};

function firstOf([first]: readonly PaymentEntry[]): PaymentEntry {
  if (first === undefined)
    throw new Error('there should be exactly one payment for a pending order');
  return first;
}
