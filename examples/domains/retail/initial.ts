import { arg, checkArgument } from 'assize/internal/base';
import type { Order, RetailRecords, RetailState } from './schema.ts';

const RECORDS = arg.members({
  users: arg.object,
  products: arg.object,
  orders: arg.record(arg.object),
});

/**
 * The state before the first proposal: the records as they are, orders under their users, and no
 * event yet.
 *
 * @throws ArgumentError `bad_argument`
 */
export function retailInitial(records: RetailRecords): RetailState {
  checkArgument(RECORDS, records, 'records');
  const { users, products, orders } = records;
  const byUser = new Map<string, [string, Order][]>(Object.keys(users).map((user) => [user, []]));
  for (const [id, order] of Object.entries(orders)) {
    const own = byUser.get(order.user_id);
    if (own === undefined) byUser.set(order.user_id, [[id, order]]);
    else own.push([id, order]);
  }
  return {
    users,
    products,
    orders: Object.fromEntries([...byUser].map(([user, own]) => [user, Object.fromEntries(own)])),
    events: Object.fromEntries([...byUser.keys()].map((user) => [user, {}])),
  };
}

/**
 * The records of a state in the benchmark's form. Each record is the same object as in the state.
 */
export function retailRecordsOf({ users, products, orders }: RetailState): RetailRecords {
  return {
    users,
    products,
    orders: Object.fromEntries(Object.values(orders).flatMap((own) => Object.entries(own))),
  };
}
