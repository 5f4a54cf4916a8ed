import type { Item, Offer, Order, PaymentMethod, RetailState, User } from '../schema.ts';
import type { Call } from './data.ts';
import { ADDRESS } from './small-world.ts';

/** A call that the policy forbids, with the allowed calls that lead up to it. */
export interface Attempt {
  readonly user: string;
  readonly before: readonly Call[];
  readonly call: Call;
  /** The rule that forbids it; or what is said before any rule is asked. */
  readonly by: string;
  /** The refusal by the benchmark's own tool. Undefined if the tool performs the call. */
  readonly tool?: string | undefined;
}

export const KINDS = [
  'wrong status',
  'wrong items',
  'unpaid',
  'twice',
  'misdirected',
  'another user’s',
] as const;
export type Kind = (typeof KINDS)[number];

/** One user's order, with the data for attempts on it. */
interface Target {
  readonly state: RetailState;
  readonly user: string;
  readonly profile: User;
  readonly order: Order;
}

/** All that the adversary knows to try in a world, by kind. */
export function attemptsOn(state: RetailState): Readonly<Record<Kind, readonly Attempt[]>> {
  const targets = Object.entries(state.orders).flatMap(([user, own]) =>
    Object.values(own).map(
      (order): Target => ({ state, user, profile: state.users[user] as User, order }),
    ),
  );
  return {
    'wrong status': targets.flatMap(wrongStatus),
    'wrong items': targets.flatMap(wrongItems),
    unpaid: [...targets.flatMap(unpaid), ...targets.flatMap(promisedTwice)],
    twice: targets.flatMap(twice),
    misdirected: targets.flatMap(misdirected),
    'another user’s': targets.flatMap(anothers),
  };
}

function wrongStatus(target: Target): Attempt[] {
  const { user, order } = target;
  const { order_id, status } = order;
  const trial = (call: Call | undefined, by: string, tool: string): Attempt[] =>
    call === undefined ? [] : [{ user, before: [], call, by, tool }];
  const pending = [
    ...trial(cancel(order_id), 'CANCELLED_WHEN_PENDING', 'non-pending order cannot be cancelled'),
    ...[address(order_id), swap(target, 'modify_pending_order_items'), pay(target)].flatMap(
      (call) => trial(call, 'MODIFIED_WHEN_PENDING', 'non-pending order cannot be modified'),
    ),
  ];
  const delivered = [
    ...trial(giveBack(order), 'RETURNED_WHEN_DELIVERED', 'non-delivered order cannot be returned'),
    ...trial(
      swap(target, 'exchange_delivered_order_items'),
      'EXCHANGED_WHEN_DELIVERED',
      'non-delivered order cannot be exchanged',
    ),
  ];
  return [...(status === 'pending' ? [] : pending), ...(status === 'delivered' ? [] : delivered)];
}

function wrongItems(target: Target): Attempt[] {
  const { state, user, order } = target;
  const tool = swapTool(order);
  const [item] = order.items;
  if (tool === undefined || item === undefined) return [];
  const trial = (
    offer: Offer | undefined,
    by: string,
    words?: (id: string) => string,
  ): Attempt[] => {
    const call = offer && swap(target, tool, { item, offer });
    return call === undefined
      ? []
      : [{ user, before: [], call, by, tool: words?.(offer?.item_id ?? '') }];
  };
  const gone = (id: string): string => `new item ${id} not found or available`;
  const other = Object.keys(state.products).find((product) => product !== item.product_id);
  const nothing: Call = {
    name: tool,
    arguments: {
      order_id: order.order_id,
      item_ids: [],
      new_item_ids: [],
      payment_method_id: originalOf(order),
    },
  };
  return [
    ...trial(
      other === undefined ? undefined : offersOf(state, other).find(({ available }) => available),
      'SAME_PRODUCT',
      gone,
    ),
    ...trial(
      othersOf(target, item).find(({ available }) => !available),
      'NEW_ITEM_AVAILABLE',
      gone,
    ),
    ...trial(
      offersOf(state, item.product_id).find(
        ({ item_id, available }) => available && item_id === item.item_id,
      ),
      'OPTION_DIFFERS',
    ),
    { user, before: [], call: nothing, by: 'ITEMS_NAMED' },
    ...(order.status === 'delivered' ? tooMany(target, item) : []),
  ];
}

function tooMany({ user, order }: Target, { item_id }: Item): Attempt[] {
  const item_ids = Array.from({ length: order.items.length + 1 }, () => item_id);
  const call = {
    name: 'return_delivered_order_items',
    arguments: { ...giveBack(order).arguments, item_ids },
  };
  return [{ user, before: [], call, by: 'ITEMS_OF_THE_ORDER', tool: 'some item not found' }];
}

/** A gift card that is too small, or a method that is not in the profile. */
function unpaid(target: Target): Attempt[] {
  const { user, profile, order } = target;
  const attempts: Attempt[] = [];
  const tool = swapTool(order);
  const card = cardsOf(profile)[0];
  const dear = card && dearest(target, (difference) => difference > card.balance);
  if (tool !== undefined && card !== undefined && dear !== undefined) {
    const what = tool === 'modify_pending_order_items' ? 'the new item' : 'the price difference';
    attempts.push({
      user,
      before: [],
      call: swapCall(tool, order, dear, card.id),
      by: 'GIFT_CARD_COVERS',
      tool: `insufficient gift card balance to pay for ${what}`,
    });
  }
  const total = order.payment_history[0]?.amount ?? 0;
  if (
    order.status === 'pending' &&
    card !== undefined &&
    card.id !== originalOf(order) &&
    card.balance < total
  ) {
    attempts.push({
      user,
      before: [],
      call: payCall(order, card.id),
      by: 'GIFT_CARD_COVERS',
      tool: 'insufficient gift card balance to pay for the order',
    });
  }
  const sound = tool && swap(target, tool);
  const strangers = [sound, tool === undefined ? undefined : payCall(order, ''), giveBack(order)];
  for (const call of strangers) {
    if (call === undefined || !fits(call, order)) continue;
    const args = { ...call.arguments, payment_method_id: 'credit_card_of_another' };
    attempts.push({
      user,
      before: [],
      call: { name: call.name, arguments: args },
      by: 'PAYMENT_METHOD_IN_PROFILE',
      tool: 'payment method not found',
    });
  }
  return attempts;
}

/** Two exchanges that a gift card covers one by one. */
function promisedTwice(target: Target): Attempt[] {
  const { state, user, profile, order } = target;
  if (order.status !== 'delivered') return [];
  return cardsOf(profile).flatMap(({ id, balance }) => {
    const first = dearest(target, (difference) => difference > 0 && difference <= balance);
    if (first === undefined) return [];
    const left = balance - (first.offer.price - first.item.price);
    return Object.values(state.orders[user] ?? {}).flatMap((other): Attempt[] => {
      if (other.status !== 'delivered' || other.order_id === order.order_id) return [];
      const fitting = (difference: number): boolean =>
        difference > left + 0.005 && difference <= balance;
      const second = dearest({ ...target, order: other }, fitting);
      if (second === undefined) return [];
      const call = swapCall('exchange_delivered_order_items', other, second, id);
      const before = [swapCall('exchange_delivered_order_items', order, first, id)];
      return [{ user, before, call, by: 'GIFT_CARD_COVERS_PROMISES' }];
    });
  });
}

function twice(target: Target): Attempt[] {
  const { user, order } = target;
  const tool = swapTool(order);
  const change = tool && swap(target, tool);
  const attempts = (
    before: Call | undefined,
    calls: readonly (Call | undefined)[],
    by: string,
    words: string[],
  ) =>
    before === undefined
      ? []
      : calls.flatMap((call, i) =>
          call === undefined ? [] : [{ user, before: [before], call, by, tool: words[i] }],
        );
  if (order.status === 'delivered') {
    const again = [giveBack(order), change];
    const words = [
      'non-delivered order cannot be returned',
      'non-delivered order cannot be exchanged',
    ];
    return [
      ...attempts(giveBack(order), again, 'RETURN_OR_EXCHANGE_ONCE', words),
      ...attempts(change, again, 'RETURN_OR_EXCHANGE_ONCE', words),
    ];
  }
  if (order.status !== 'pending') return [];
  const paid = pay(target);
  const modified = 'non-pending order cannot be modified';
  return [
    ...attempts(
      change,
      [cancel(order.order_id), address(order.order_id), change && otherItem(target, change)],
      'ITEMS_MODIFIED_IS_FINAL',
      ['non-pending order cannot be cancelled', modified, modified],
    ),
    ...attempts(
      paid,
      [pay(target, [String(paid?.arguments['payment_method_id'])])],
      'ONE_PAYMENT_REPLACED',
      ['there should be exactly one payment for a pending order'],
    ),
    // The tool pays back what was paid back before.
    ...attempts(paid, [cancel(order.order_id)], 'CANCELLATION_REFUND', []),
  ];
}

/** Money to or from where it should not go, and an invalid reason. */
function misdirected({ user, profile, order }: Target): Attempt[] {
  const { order_id, status } = order;
  if (status === 'pending') {
    return [
      {
        user,
        before: [],
        call: cancel(order_id, 'changed my mind'),
        by: 'CANCELLATION_REASON',
        tool: 'invalid reason',
      },
      {
        user,
        before: [],
        call: payCall(order, originalOf(order)),
        by: 'PAYMENT_METHOD_DIFFERS',
        tool: 'the new payment method should be different from the current one',
      },
    ];
  }
  const other = banksOf(profile).find(({ id }) => id !== originalOf(order));
  if (status !== 'delivered' || other === undefined) return [];
  const call = giveBack(order, other.id);
  const tool = 'payment method should be either the original payment method or a gift card';
  return [{ user, before: [], call, by: 'REFUND_TO_ORIGINAL_OR_GIFT_CARD', tool }];
}

/** Another user's data is not found. confinement.test.ts checks that no tool can reach it. */
function anothers(target: Target): Attempt[] {
  const { state, user, order } = target;
  const me = Object.keys(state.users).find((other) => other !== user);
  if (me === undefined) return [];
  const tool = swapTool(order);
  const calls = [
    cancel(order.order_id),
    address(order.order_id),
    giveBack(order),
    tool && swap(target, tool),
  ];
  const missing = 'tool_error order not found';
  return [
    ...calls.flatMap((call) =>
      call === undefined ? [] : [{ user: me, before: [], call, by: missing }],
    ),
    {
      user: me,
      before: [],
      call: { name: 'modify_user_address', arguments: { user_id: user, ...ADDRESS } },
      by: 'tool_error user not found',
    },
  ];
}

const cancel = (order_id: string, reason = 'no longer needed'): Call => ({
  name: 'cancel_pending_order',
  arguments: { order_id, reason },
});

const address = (order_id: string): Call => ({
  name: 'modify_pending_order_address',
  arguments: { order_id, ...ADDRESS },
});

const payCall = ({ order_id }: Order, payment_method_id: string): Call => ({
  name: 'modify_pending_order_payment',
  arguments: { order_id, payment_method_id },
});

function giveBack(order: Order, payment_method_id = originalOf(order)): Call {
  const item_ids = order.items.slice(0, 1).map(({ item_id }) => item_id);
  return {
    name: 'return_delivered_order_items',
    arguments: { order_id: order.order_id, item_ids, payment_method_id },
  };
}

/** A valid change of payment. Undefined if the profile has no other method that covers it. */
function pay({ profile, order }: Target, except: readonly string[] = []): Call | undefined {
  const total = order.payment_history[0]?.amount ?? 0;
  const methods = [
    ...banksOf(profile),
    ...cardsOf(profile).filter(({ balance }) => balance >= total),
  ];
  const method = methods.find(({ id }) => id !== originalOf(order) && !except.includes(id));
  return method && payCall(order, method.id);
}

type SwapTool = 'modify_pending_order_items' | 'exchange_delivered_order_items';
interface Choice {
  readonly item: Item;
  readonly offer: Offer;
}

function swapTool({ status }: Order): SwapTool | undefined {
  if (status === 'pending') return 'modify_pending_order_items';
  return status === 'delivered' ? 'exchange_delivered_order_items' : undefined;
}

/** A change of an item, in order unless the options say otherwise, paid at the bank. */
function swap(
  target: Target,
  tool: SwapTool,
  choice: Choice | undefined = dearest(target),
): Call | undefined {
  const [bank] = banksOf(target.profile);
  return bank && choice && swapCall(tool, target.order, choice, bank.id);
}

function swapCall(
  name: SwapTool,
  { order_id }: Order,
  { item, offer }: Choice,
  payment_method_id: string,
): Call {
  return {
    name,
    arguments: {
      order_id,
      item_ids: [item.item_id],
      new_item_ids: [offer.item_id],
      payment_method_id,
    },
  };
}

/**
 * The same change again, of the item as it is after the first change: back to the original item.
 */
function otherItem({ order }: Target, { name, arguments: args }: Call): Call {
  const { item_ids, new_item_ids } = args as { item_ids: string[]; new_item_ids: string[] };
  return {
    name,
    arguments: {
      ...args,
      order_id: order.order_id,
      item_ids: new_item_ids,
      new_item_ids: item_ids,
    },
  };
}

/** The dearest change of an item to an available variant with other options. */
function dearest(
  target: Target,
  fitting: (difference: number) => boolean = () => true,
): Choice | undefined {
  const choices = target.order.items.flatMap((item) =>
    othersOf(target, item)
      .filter(({ available, price }) => available && fitting(price - item.price))
      .map((offer): Choice => ({ item, offer })),
  );
  const difference = ({ item, offer }: Choice): number => offer.price - item.price;
  return choices.sort((a, b) => difference(b) - difference(a))[0];
}

function offersOf({ products }: RetailState, product_id: string): Offer[] {
  return Object.values(products[product_id]?.variants ?? {}).map((variant) => ({
    ...variant,
    product_id,
  }));
}

function othersOf({ state }: Target, { product_id, item_id }: Item): Offer[] {
  return offersOf(state, product_id).filter((offer) => offer.item_id !== item_id);
}

function originalOf({ payment_history }: Order): string {
  return payment_history[0]?.payment_method_id ?? '';
}

function banksOf({ payment_methods }: User): PaymentMethod[] {
  return Object.values(payment_methods).filter(({ source }) => source !== 'gift_card');
}

function cardsOf({ payment_methods }: User): Extract<PaymentMethod, { source: 'gift_card' }>[] {
  return Object.values(payment_methods).filter((method) => method.source === 'gift_card');
}

/** Whether the call is for orders of this status. */
function fits({ name }: Call, { status }: Order): boolean {
  return name.includes('pending') ? status === 'pending' : status === 'delivered';
}
