import { z } from 'zod';
import { type Address, addressShape } from '../schema.ts';
import { findOrder } from './find.ts';
import { record } from './record.ts';
import type { Tool } from './tool.ts';

export type ModifyPendingOrderAddress = { order_id: string } & Address;

export const modifyPendingOrderAddress: Tool<'readdressing', ModifyPendingOrderAddress> = {
  process: 'readdressing',
  description: 'Modify the shipping address of a pending order.',
  args: z.object({ order_id: z.string(), ...addressShape }),
  check: (state, { order_id }, user) => {
    const { status } = findOrder(state, user, order_id);
    if (status !== 'pending') throw new Error('non-pending order cannot be modified');
  },
  perform: (state, { order_id, ...address }, user) => {
    const order = findOrder(state, user, order_id);
    record(state, user, order_id, { kind: 'address', status: order.status });
    order.address = address;
  },
};
