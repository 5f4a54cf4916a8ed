/**
 * A walk through the life of an order. From a small state, the test tries every call of a set in
 * every reachable state. The test compares each change of an order with a table. The table is
 * written from policy.md and knows no rule.
 */
import { canonicalize } from 'assize/internal/canon';
import type { Domain } from 'assize/internal/kernel';
import { beforeAll, describe, expect, test } from 'vitest';
import { someOf } from '../../../tests/support/some-of.ts';
import { retail } from './index.ts';
import type { Order, OrderEvent, RetailState } from './schema.ts';
import { carelessRetail } from './testing/careless.ts';
import type { Call } from './testing/data.ts';
import { inWords, ruled, worldOver } from './testing/kernel.ts';
import { attempt, attemptCarelessly, copyOf } from './testing/naive-world.ts';
import { ADDRESS, returnArgs, smallWorld, swapArgs } from './testing/small-world.ts';

/**
 * The depth of the walk, in calls. Addresses can change without end; all other changes of these
 * orders end after three calls.
 */
const DEPTH = 6;
/**
 * The number of reachable states, with the tools' own checks and without. The policy forbids the
 * same calls as the checks.
 */
const STATES = 400;

/** By status: the allowed tools, and the status after each tool. Every other call is forbidden. */
const TABLE: Readonly<Record<string, Readonly<Record<string, Order['status']>>>> = {
  pending: {
    cancel_pending_order: 'cancelled',
    modify_pending_order_address: 'pending',
    modify_pending_order_payment: 'pending',
    modify_pending_order_items: 'pending (item modified)',
  },
  delivered: {
    return_delivered_order_items: 'return requested',
    exchange_delivered_order_items: 'exchange requested',
  },
};

/** Calls that the table allows and the domain still refuses, with the reasons. */
const REFUSED_FOR_MORE: Readonly<Record<string, readonly string[]>> = {
  // The payment was changed before: it can't be again, and the tool would pay back too much.
  modify_pending_order_payment: [
    'reject PAYMENT_METHOD_DIFFERS',
    'reject ONE_PAYMENT_REPLACED',
    'tool_error the new payment method should be different from the current one',
    'tool_error there should be exactly one payment for a pending order',
  ],
  cancel_pending_order: ['reject CANCELLATION_REFUND'],
};

const ORDERS = ['P', 'X', 'D', 'C'];

const CALLS: readonly Call[] = ORDERS.flatMap((order_id): Call[] => [
  { name: 'cancel_pending_order', arguments: { order_id, reason: 'no longer needed' } },
  { name: 'modify_pending_order_address', arguments: { order_id, ...ADDRESS } },
  ...['card', 'paypal', 'gift100'].map((payment_method_id) => ({
    name: 'modify_pending_order_payment',
    arguments: { order_id, payment_method_id },
  })),
  { name: 'modify_pending_order_items', arguments: swapArgs(order_id) },
  {
    name: 'modify_pending_order_items',
    arguments: swapArgs(order_id, { item_ids: ['shoe-white'], new_item_ids: ['shoe-black'] }),
  },
  { name: 'exchange_delivered_order_items', arguments: swapArgs(order_id) },
  { name: 'return_delivered_order_items', arguments: returnArgs(order_id) },
  {
    name: 'return_delivered_order_items',
    arguments: returnArgs(order_id, { item_ids: ['shoe-white'] }),
  },
]);

/** A call that changed something, and the order before and after it. */
interface Step {
  readonly call: Call;
  readonly before: Order;
  readonly after: Order;
  readonly events: readonly OrderEvent[];
}

interface Walk {
  readonly states: number;
  readonly steps: readonly Step[];
  /** Calls that the table allows and the domain refuses, with the domain's answers. */
  readonly refused: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Breadth first; states that are the same are one. `onCall` sees every call in every state. */
function walk(
  domain: Domain,
  depth: number,
  onCall: (state: RetailState, call: Call, words: string) => void = () => {},
): Walk {
  const start = smallWorld();
  const seen = new Set([canonicalize(start as never)]);
  const steps: Step[] = [];
  const refused = new Map<string, Set<string>>();
  let level = [start];
  for (let i = 0; i < depth; i++) {
    const next: RetailState[] = [];
    for (const state of level) {
      // Checking every rule of a new world for each call would take most of the time.
      const world = worldOver(domain, state);
      for (const call of CALLS) {
        const ruling = ruled(world, call);
        const words = inWords(ruling);
        onCall(state, call, words);
        const before = orderOf(state, call);
        if (ruling.verdict !== 'approved') {
          if (TABLE[before.status]?.[call.name] !== undefined) {
            refused.set(call.name, (refused.get(call.name) ?? new Set()).add(words));
          }
          continue;
        }
        const reached = copyOf(world.state as unknown as RetailState);
        ruling.undo();
        const events = reached.events['ann']?.[before.order_id] ?? [];
        steps.push({ call, before, after: orderOf(reached, call), events });
        expectOthersKept(state, reached, before.order_id);
        const text = canonicalize(reached as never);
        if (seen.has(text)) continue;
        seen.add(text);
        next.push(reached);
      }
    }
    level = next;
  }
  return { states: seen.size, steps, refused };
}

function orderOf({ orders }: RetailState, { arguments: args }: Call): Order {
  return orders['ann']?.[String(args['order_id'])] as Order;
}

function expectOthersKept(before: RetailState, after: RetailState, order_id: string): void {
  for (const [id, order] of Object.entries(before.orders['ann'] ?? {})) {
    if (id !== order_id) expect(after.orders['ann']?.[id]).toEqual(order);
  }
  expect(after.orders['bob']).toEqual(before.orders['bob']);
  expect(after.users['bob']).toEqual(before.users['bob']);
}

/** Every change that the table does not have. */
function forbidden({ steps }: Walk): string[] {
  return steps
    .filter(({ call, before, after }) => TABLE[before.status]?.[call.name] !== after.status)
    .map(({ call, before, after }) => `${before.status} – ${call.name} → ${after.status}`);
}

describe.each([
  ['with the tools as they are', retail, attempt],
  ['with tools that check nothing', carelessRetail(), attemptCarelessly],
] as const)('the life of an order, %s', (_, domain, naively) => {
  const rulings: { readonly state: RetailState; readonly call: Call; readonly words: string }[] =
    [];
  let walked: Walk;

  beforeAll(() => {
    walked = walk(domain, DEPTH, (state, call, words) => rulings.push({ state, call, words }));
  });

  test('no change is reached that the policy forbids', () => {
    expect(walked.states).toBe(STATES);
    expect(forbidden(walked)).toEqual([]);
  });

  test('every change is reached that the policy allows', () => {
    const reached = new Set(
      walked.steps.map(({ call, before }) => `${before.status} ${call.name}`),
    );
    const allowed = Object.entries(TABLE).flatMap(([status, tools]) =>
      Object.keys(tools).map((t) => `${status} ${t}`),
    );
    expect([...reached].sort()).toEqual(allowed.sort());
  });

  test('a refusal despite an allowed status has a known reason', () => {
    for (const [tool, words] of walked.refused) {
      expect([...words].filter((word) => REFUSED_FOR_MORE[tool]?.includes(word) !== true)).toEqual(
        [],
      );
    }
    expect([...walked.refused.keys()].sort()).toEqual(Object.keys(REFUSED_FOR_MORE).sort());
  });

  test('items are modified once, returned or exchanged once, and nothing follows', () => {
    for (const { events } of walked.steps) {
      const final = events.findIndex(({ kind }) => kind !== 'address' && kind !== 'payment');
      expect(final === -1 || final === events.length - 1).toBe(true);
    }
  });

  test('each live order is paid to the cent, each cancelled order refunded', () => {
    for (const { after } of walked.steps) {
      const signed = after.payment_history.map(({ transaction_type, amount }) =>
        transaction_type === 'payment' ? Math.round(amount * 100) : -Math.round(amount * 100),
      );
      const price = after.items.reduce((sum, item) => sum + Math.round(item.price * 100), 0);
      const paid = signed.reduce((sum, amount) => sum + amount, 0);
      expect(paid).toBe(after.status === 'cancelled' ? 0 : price);
    }
  });

  test('the kernel rules on every call as the naive evaluation of all rules', () => {
    const disagreements: string[] = [];
    for (const { state, call, words } of someOf(rulings, ({ words }) => words)) {
      const outcome = naively(state, call.name, call.arguments);
      const more = outcome.outcome === 'tool_error' ? outcome.detail : (outcome.invariant ?? '');
      const naive = `${outcome.outcome} ${more}`.trim();
      if (naive !== words) disagreements.push(`${call.name}: ${words}, naively ${naive}`);
    }
    expect(disagreements).toEqual([]);
  });
});

/** The walk is worth what it finds. */
test.each([
  ['CANCELLED_WHEN_PENDING', 'processed – cancel_pending_order → cancelled'],
  ['MODIFIED_WHEN_PENDING', 'delivered – modify_pending_order_items → pending (item modified)'],
  ['RETURNED_WHEN_DELIVERED', 'pending – return_delivered_order_items → return requested'],
  ['EXCHANGED_WHEN_DELIVERED', 'processed – exchange_delivered_order_items → exchange requested'],
  ['ITEMS_MODIFIED_IS_FINAL', 'pending (item modified) – cancel_pending_order → cancelled'],
  [
    'RETURN_OR_EXCHANGE_ONCE',
    'return requested – exchange_delivered_order_items → exchange requested',
  ],
])('without %s the walk reaches a state that the policy forbids', (rule, found) => {
  expect(forbidden(walk(carelessRetail([rule]), 2))).toContain(found);
});
