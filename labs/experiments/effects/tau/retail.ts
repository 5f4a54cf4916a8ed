import type { Json } from 'assize/internal/base';
import { segment } from 'assize/internal/effects';
import type { ApplyContext } from 'assize/internal/kernel';
import { z } from 'zod';
import {
  type RetailRecords,
  type RetailState,
  retail,
  retailInitial,
} from '../../../../examples/domains/retail/index.ts';
import { COMMON } from './common.ts';
import { type Args, copyOf, type Desk, type DeskTool, differing, notEmpty } from './desk.ts';
import { Layer, type Layers } from './layer.ts';

type Order = RetailRecords['orders'][string];
type User = RetailState['users'][string];

/** Collections that its tools write. Orders stand under their users. */
const WRITTEN = ['users', 'orders', 'events'] as const;

/** The shop's service: the domain's own tools, for all users together and without its policy. */
export function retailDesk(records: RetailRecords): Desk {
  const initial = retailInitial(records);
  const { products } = initial;
  const begin: Layers = Object.fromEntries(
    WRITTEN.map((name) => [name, new Layer<unknown>(initial[name])]),
  );
  const ownerOf = ({ user_id, order_id }: Args): string | undefined =>
    user_id ?? records.orders[order_id]?.user_id;
  const userScope = (args: Args): string[] => {
    const user = ownerOf(args);
    return user === undefined ? [] : [`users:${segment(user)}`];
  };
  const orderOf = (layers: Layers, args: Args): Order => {
    const order = layers['orders']!.peek(ownerOf(args) ?? '')?.[args.order_id];
    if (order === undefined) throw new Error('order not found');
    return order;
  };
  const userOf = (layers: Layers, { user_id }: Args): User => {
    const user = layers['users']!.peek(user_id);
    if (user === undefined) throw new Error('user not found');
    return user;
  };
  const change = (
    name: keyof typeof retail.actions,
    sort: DeskTool['sort'],
    rest: Pick<DeskTool, 'reads' | 'writes'>,
    answer: (layers: Layers, args: Args) => unknown = orderOf,
  ): DeskTool => ({
    input: retail.actions[name].args,
    sort,
    ...rest,
    serve: (layers, args) => {
      const opened = Object.fromEntries(
        WRITTEN.map((collection) => [collection, layers[collection]!.open()]),
      );
      const state = { products, ...opened } as unknown as RetailState;
      const role = { user: ownerOf(args) ?? '' };
      retail.actions[name].apply(state, args, { role } as ApplyContext<any>);
      return copyOf(answer(layers, args));
    },
  });
  const both = (args: Args): string[] => [...orderScope(args), ...userScope(args)];
  const userWhere = (layers: Layers, is: (user: User) => boolean): Json => {
    const found = Object.keys(records.users).find((id) => is(layers['users']!.peek(id)));
    if (found === undefined) throw new Error('user not found');
    return found;
  };
  return {
    name: 'retail',
    begin,
    tools: {
      ...COMMON,
      cancel_pending_order: change('cancel_pending_order', 'final', { writes: both }),
      // The user gets a letter that says how to send things back.
      exchange_delivered_order_items: change('exchange_delivered_order_items', 'final', {
        reads: (args) => [...userScope(args), 'products:*'],
        writes: orderScope,
      }),
      return_delivered_order_items: change('return_delivered_order_items', 'final', {
        reads: userScope,
        writes: orderScope,
      }),
      // It can be done once.
      modify_pending_order_items: change('modify_pending_order_items', 'final', {
        reads: () => ['products:*'],
        writes: both,
      }),
      modify_pending_order_address: change('modify_pending_order_address', 'free', {
        writes: orderScope,
      }),
      modify_pending_order_payment: change('modify_pending_order_payment', 'free', {
        writes: both,
      }),
      modify_user_address: change('modify_user_address', 'free', { writes: userScope }, userOf),
      find_user_id_by_email: {
        input: z.strictObject({ email: z.string() }),
        sort: 'look',
        reads: () => ['users:*'],
        serve: (layers, { email }) => userWhere(layers, (user) => alike(user.email, email)),
      },
      find_user_id_by_name_zip: {
        input: z.strictObject({ first_name: z.string(), last_name: z.string(), zip: z.string() }),
        sort: 'look',
        reads: () => ['users:*'],
        serve: (layers, { first_name, last_name, zip }) =>
          userWhere(
            layers,
            ({ name, address }) =>
              alike(name.first_name, first_name) &&
              alike(name.last_name, last_name) &&
              address.zip === zip,
          ),
      },
      get_order_details: {
        input: z.strictObject({ order_id: z.string() }),
        sort: 'look',
        reads: orderScope,
        serve: (layers, args) => copyOf(orderOf(layers, args)),
      },
      get_product_details: {
        input: z.strictObject({ product_id: z.string() }),
        sort: 'look',
        reads: ({ product_id }) => [`products:${segment(product_id)}`],
        serve: (_, { product_id }) => {
          if (!Object.hasOwn(products, product_id)) throw new Error('product not found');
          return copyOf(products[product_id]);
        },
      },
      get_user_details: {
        input: z.strictObject({ user_id: z.string() }),
        sort: 'look',
        reads: userScope,
        serve: (layers, args) => copyOf(userOf(layers, args)),
      },
      list_all_product_types: {
        input: z.strictObject({}),
        sort: 'look',
        reads: () => ['products:*'],
        serve: () =>
          Object.fromEntries(
            Object.values(products).map(({ name, product_id }) => [name, product_id]),
          ),
      },
    },
    changed: (layers) => {
      const [users, orders] = [layers['users']!, layers['orders']!];
      const ordersOf = (user: string): [string, Order][] => Object.entries(orders.peek(user) ?? {});
      return notEmpty({
        users: differing(users.touched.map((id) => [id, users.peek(id), records.users[id]])),
        orders: differing(
          orders.touched
            .flatMap(ordersOf)
            .map(([id, order]) => [id, order, records.orders[id]] as const),
        ),
      });
    },
  };
}

function orderScope({ order_id }: Args): string[] {
  return [`orders:${segment(order_id)}`];
}

function alike(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
