import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { retail } from '../index.ts';
import type { RetailState } from '../schema.ts';
import { after, attemptCarelessly, failing } from '../testing/naive-world.ts';
import { ADDRESS, returnArgs, smallWorld, swapArgs } from '../testing/small-world.ts';

type Call = readonly [name: string, args: Record<string, unknown>];
/** The title of a case, and the state that it leads to. */
type Case = readonly [title: string, state: () => RetailState];

/** The tools check nothing here, so every refusal comes from the policy. */
function done(...calls: readonly Call[]): () => RetailState {
  return () =>
    calls.reduce(
      (state, [name, args]) => after(attemptCarelessly(state, name, args)),
      smallWorld(),
    );
}

function edited(calls: readonly Call[], edit: (state: RetailState) => void): () => RetailState {
  return () => {
    const state = done(...calls)();
    edit(state);
    return state;
  };
}

/** With so much on the gift card. */
function withGift(balance: number, [name, args]: Call): () => RetailState {
  return () => {
    const world = smallWorld(({ users }) =>
      Object.assign(users['ann']!.payment_methods['gift']!, { balance }),
    );
    return after(attemptCarelessly(world, name, args));
  };
}

const cancel = (order_id: string, reason = 'no longer needed'): Call => [
  'cancel_pending_order',
  { order_id, reason },
];
const address = (order_id: string): Call => [
  'modify_pending_order_address',
  { order_id, ...ADDRESS },
];
const pay = (order_id: string, payment_method_id: string): Call => [
  'modify_pending_order_payment',
  { order_id, payment_method_id },
];
const modify = (order_id: string, change = {}): Call => [
  'modify_pending_order_items',
  swapArgs(order_id, change),
];
const exchange = (order_id: string, change = {}): Call => [
  'exchange_delivered_order_items',
  swapArgs(order_id, change),
];
const giveBack = (order_id: string, change = {}): Call => [
  'return_delivered_order_items',
  returnArgs(order_id, change),
];
const to = (new_item_id: string, payment_method_id = 'card') => ({
  new_item_ids: [new_item_id],
  payment_method_id,
});
const twice = { item_ids: ['shirt-red', 'shirt-red'] };

/** By rule: cases that only this rule refuses, and similar cases that pass. */
const CASES: Readonly<Record<string, { refused: readonly Case[]; passes: readonly Case[] }>> = {
  CANCELLED_WHEN_PENDING: {
    refused: [
      ['a processed order', done(cancel('X'))],
      ['a delivered one', done(cancel('D'))],
      ['one whose return is requested', done(giveBack('D'), cancel('D'))],
    ],
    passes: [['a pending order', done(cancel('P'))]],
  },
  MODIFIED_WHEN_PENDING: {
    refused: [
      ['the address of a processed order', done(address('X'))],
      ['the items of a delivered one', done(modify('D'))],
      ['the payment of a processed one', done(pay('X', 'paypal'))],
    ],
    passes: [
      ['the address of a pending order, more than once', done(address('P'), address('P'))],
      ['its payment and then its items', done(pay('P', 'paypal'), modify('P'))],
    ],
  },
  RETURNED_WHEN_DELIVERED: {
    refused: [
      ['a pending order', done(giveBack('P'))],
      ['a processed one', done(giveBack('X'))],
      [
        'a pending one with modified items',
        done(modify('P', { item_ids: ['shoe-white'], ...to('shoe-black') }), giveBack('P')),
      ],
    ],
    passes: [['a delivered order', done(giveBack('D'))]],
  },
  EXCHANGED_WHEN_DELIVERED: {
    refused: [
      ['a pending order', done(exchange('P'))],
      ['a processed one', done(exchange('X'))],
    ],
    passes: [['a delivered order', done(exchange('D'))]],
  },
  ITEMS_MODIFIED_IS_FINAL: {
    refused: [
      [
        'items again',
        done(modify('P'), modify('P', { item_ids: ['shoe-white'], ...to('shoe-black') })),
      ],
      ['the address after it', done(modify('P'), address('P'))],
      ['a cancellation after it', done(modify('P'), cancel('P'))],
    ],
    passes: [['two orders, each once', done(modify('P'), modify('P2'))]],
  },
  RETURN_OR_EXCHANGE_ONCE: {
    refused: [
      ['returned twice', done(giveBack('D'), giveBack('D', { item_ids: ['shoe-white'] }))],
      [
        'exchanged twice',
        done(exchange('D'), exchange('D', { item_ids: ['shoe-white'], ...to('shoe-black') })),
      ],
      [
        'returned after an exchange',
        done(exchange('D'), giveBack('D', { item_ids: ['shoe-white'] })),
      ],
    ],
    passes: [['one order returned, the other exchanged', done(giveBack('D'), exchange('D2'))]],
  },
  CANCELLATION_REASON: {
    refused: [
      ['another reason', done(cancel('P', 'found it cheaper'))],
      ['none', done(cancel('P', ''))],
    ],
    passes: [['ordered by mistake', done(cancel('P', 'ordered by mistake'))]],
  },
  ITEMS_NAMED: {
    refused: [
      ['a return of nothing', done(giveBack('D', { item_ids: [] }))],
      ['an exchange of nothing', done(exchange('D', { item_ids: [], new_item_ids: [] }))],
      ['a modification of nothing', done(modify('P', { item_ids: [], new_item_ids: [] }))],
    ],
    passes: [['all items', done(giveBack('D', { item_ids: ['shoe-white', 'shirt-red'] }))]],
  },
  ITEMS_OF_THE_ORDER: {
    refused: [
      ['an item that the order does not have', done(giveBack('D', { item_ids: ['shoe-black'] }))],
      ['more of it than the order has', done(giveBack('D', twice))],
      [
        'the same for an exchange',
        done(exchange('D', { ...twice, new_item_ids: ['shirt-blue', 'shirt-blue'] })),
      ],
    ],
    passes: [
      [
        'both of two',
        () => {
          const world = smallWorld(({ orders }) => {
            const order = orders['ann']!['D']!;
            order.items.push(structuredClone(order.items[0]!));
            order.payment_history[0]!.amount += 20;
          });
          return after(attemptCarelessly(world, ...giveBack('D', twice)));
        },
      ],
    ],
  },
  SAME_PRODUCT: {
    refused: [
      ['a shirt exchanged for a shoe', done(exchange('D', to('shoe-black')))],
      ['and modified to one', done(modify('P', to('shoe-black')))],
    ],
    passes: [
      ['a shoe for a shoe', done(exchange('D', { item_ids: ['shoe-white'], ...to('shoe-black') }))],
    ],
  },
  NEW_ITEM_AVAILABLE: {
    refused: [
      ['what is sold out', done(exchange('D', to('shirt-pink')))],
      ['and in a pending order', done(modify('P', to('shirt-pink')))],
    ],
    passes: [['what is there', done(exchange('D', to('shirt-green')))]],
  },
  OPTION_DIFFERS: {
    refused: [
      ['an item for itself', done(exchange('D', to('shirt-red')))],
      ['and in a pending order', done(modify('P', to('shirt-red')))],
    ],
    passes: [
      ['another colour', done(exchange('D', to('shirt-blue')))],
      [
        'the same colour with an option more',
        () => {
          const world = smallWorld(({ products }) => {
            const { variants } = products['shirt']!;
            variants['shirt-long'] = {
              ...variants['shirt-red']!,
              item_id: 'shirt-long',
              options: { color: 'red', sleeve: 'long' },
            };
          });
          return after(attemptCarelessly(world, ...exchange('D', to('shirt-long'))));
        },
      ],
    ],
  },
  PAYMENT_METHOD_IN_PROFILE: {
    refused: [
      ['an unknown card for the difference', done(modify('P', to('shirt-blue', 'other')))],
      ['for an exchange', done(exchange('D', to('shirt-blue', 'other')))],
      ['for the whole order', done(pay('P', 'other'))],
    ],
    passes: [['another one of the profile', done(modify('P', to('shirt-blue', 'paypal')))]],
  },
  PAYMENT_METHOD_DIFFERS: {
    refused: [['the method that it is paid with', done(pay('P', 'card'))]],
    passes: [['another one', done(pay('P', 'paypal'))]],
  },
  ONE_PAYMENT_REPLACED: {
    refused: [['a second change of payment', done(pay('P', 'paypal'), pay('P', 'gift100'))]],
    passes: [['one for each of two orders', done(pay('P', 'paypal'), pay('P2', 'paypal'))]],
  },
  GIFT_CARD_COVERS: {
    refused: [
      ['the difference', done(modify('P', to('shirt-green', 'gift')))],
      ['the total', done(pay('P', 'gift'))],
      ['but for a cent', withGift(5.09, modify('P', to('shirt-blue', 'gift')))],
    ],
    passes: [
      ['what it covers', done(modify('P', to('shirt-blue', 'gift')))],
      ['to the cent', withGift(5.1, modify('P', to('shirt-blue', 'gift')))],
      ['a refund, however little is left', withGift(0, modify('P', to('shirt-grey', 'gift')))],
      ['the total', done(pay('P', 'gift100'))],
    ],
  },
  GIFT_CARD_COVERS_PROMISES: {
    refused: [
      [
        'two exchanges that it covers one by one',
        done(
          exchange('D', to('shirt-green', 'gift100')),
          exchange('D2', to('shirt-blue', 'gift100')),
        ),
      ],
      [
        'a payment out of what is promised',
        done(exchange('D', to('shirt-green', 'gift100')), modify('P', to('shirt-blue', 'gift100'))),
      ],
    ],
    passes: [
      ['all of it promised', done(exchange('D', to('shirt-green', 'gift100')))],
      [
        'two that it covers together',
        done(
          exchange('D', to('shirt-blue', 'gift100')),
          exchange('D2', to('shirt-blue', 'gift100')),
        ),
      ],
      [
        'the second one from another card',
        done(exchange('D', to('shirt-green', 'gift100')), exchange('D2', to('shirt-blue', 'gift'))),
      ],
    ],
  },
  REFUND_TO_ORIGINAL_OR_GIFT_CARD: {
    refused: [
      [
        'a return to another method of the profile',
        done(giveBack('D', { payment_method_id: 'paypal' })),
      ],
    ],
    passes: [['a return to a gift card', done(giveBack('D', { payment_method_id: 'gift' }))]],
  },
  CANCELLATION_REFUND: {
    refused: [
      // The benchmark's tool pays back what was paid back before.
      ['a cancellation after a change of payment', done(pay('P', 'paypal'), cancel('P'))],
      [
        'one that keeps the money',
        edited([cancel('P')], ({ orders }) => orders['ann']!['P']!.payment_history.pop()),
      ],
      [
        'one that pays another method back',
        edited([cancel('P')], ({ orders }) => {
          orders['ann']!['P']!.payment_history[1]!.payment_method_id = 'paypal';
        }),
      ],
    ],
    passes: [['each method gets what it paid', done(cancel('P'))]],
  },
  ORDER_IS_PAID: {
    refused: [
      [
        'new items without the difference',
        edited([modify('P')], ({ orders }) => orders['ann']!['P']!.payment_history.pop()),
      ],
      [
        'a cent too little',
        edited([modify('P')], ({ orders }) => {
          orders['ann']!['P']!.payment_history[1]!.amount -= 0.01;
        }),
      ],
    ],
    passes: [
      ['a difference that is not a whole number of cents in floating point', done(modify('P'))],
    ],
  },
  ORDER_OF_ITS_USER: {
    refused: [
      [
        'an order that changes hands',
        edited([], ({ orders }) => {
          orders['ann']!['P']!.user_id = 'bob';
        }),
      ],
    ],
    passes: [['everybody has their own', done()]],
  },
  DIFFERENCE_OF_PRICES: {
    refused: [
      [
        'a row that says otherwise',
        edited([modify('P')], ({ events }) => {
          Object.assign(events['ann']!['P']![0]!, { difference: 4 });
        }),
      ],
    ],
    passes: [['new prices less old ones', done(modify('P'), exchange('D', to('shirt-green')))]],
  },
  EVENTS_ON_RECORD: {
    refused: [
      [
        'a status that no row leads to',
        edited([giveBack('D')], ({ orders }) =>
          Object.assign(orders['ann']!['D']!, { status: 'delivered' }),
        ),
      ],
      [
        'a row that does not go on where the one before ended',
        edited([address('P'), address('P')], ({ events }) => {
          Object.assign(events['ann']!['P']![0]!, {
            kind: 'cancellation',
            reason: 'no longer needed',
          });
        }),
      ],
      [
        'other items back',
        edited([giveBack('D')], ({ orders }) =>
          Object.assign(orders['ann']!['D']!, { return_items: ['shoe-white'] }),
        ),
      ],
      [
        'refunded elsewhere',
        edited([giveBack('D')], ({ orders }) =>
          Object.assign(orders['ann']!['D']!, { return_payment_method_id: 'paypal' }),
        ),
      ],
      [
        'exchanged for something else',
        edited([exchange('D')], ({ orders }) =>
          Object.assign(orders['ann']!['D']!, { exchange_new_items: ['shirt-green'] }),
        ),
      ],
      [
        'another difference',
        edited([exchange('D')], ({ orders }) =>
          Object.assign(orders['ann']!['D']!, { exchange_price_difference: 0 }),
        ),
      ],
      [
        'another reason',
        edited([cancel('P')], ({ orders }) =>
          Object.assign(orders['ann']!['P']!, { cancel_reason: 'ordered by mistake' }),
        ),
      ],
      [
        'other items',
        edited([modify('P')], ({ orders }) =>
          Object.assign(orders['ann']!['P']!.items[0]!, { item_id: 'shirt-green' }),
        ),
      ],
      [
        'a payment that is not there',
        edited([pay('P', 'paypal')], ({ orders }) => {
          orders['ann']!['P']!.payment_history.length = 1;
        }),
      ],
      [
        'an order that is not there',
        edited([address('P')], ({ orders }) => {
          delete orders['ann']!['P'];
        }),
      ],
    ],
    passes: [
      [
        'whatever the tools leave',
        done(
          address('P'),
          pay('P', 'paypal'),
          modify('P'),
          giveBack('D'),
          exchange('D2'),
          cancel('P2'),
        ),
      ],
    ],
  },
};

test('every policy rule has its cases here and its sentence in the README', () => {
  expect(Object.keys(CASES)).toEqual(retail.rules.map(({ id }) => id));
  const sections = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8').split('\n## ');
  const policy =
    sections.find((text) => text.startsWith('The policy, sentence by sentence\n')) ?? '';
  // `…_WHEN_…` stands for four.
  const named = (id: string): boolean =>
    policy.includes(`\`${id}\``) || /^[A-Z]+_WHEN_[A-Z]+$/.test(id);
  expect(Object.keys(CASES).filter((id) => !named(id))).toEqual([]);
});

describe.each(Object.entries(CASES))('%s', (rule, { refused, passes }) => {
  test.each(refused)('refuses, alone: %s', (_, state) => {
    expect(failing(state())).toEqual([rule]);
  });

  test.each(passes)('passes: %s', (_, state) => {
    expect(failing(state())).toEqual([]);
  });
});
