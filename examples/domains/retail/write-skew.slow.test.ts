/**
 * Two agents serve one user at the same time, each on the slice that it received. Without the
 * kernel, each agent's changes go into a shared log, and both agents are right by their slices.
 * With the kernel, the second proposal is adjudicated on the state after the first.
 */

import { MemoryStore } from '@assize/testing/memory';
import type { Domain } from 'assize/internal/kernel';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../tests/support/cases.ts';
import { runtimeOver, writFor } from '../../../tests/support/ledger/runtime.ts';
import { type Operation, rfc6902 } from '../../../tests/support/models/naive-patch.ts';
import { retail } from './index.ts';
import type { RetailState } from './schema.ts';
import type { Call } from './testing/data.ts';
import { inWords, ruled, worldOver } from './testing/kernel.ts';
import { failing } from './testing/naive-world.ts';
import { smallWorld, swapArgs } from './testing/small-world.ts';

/** Takes calls by name, as they are recorded. */
const untyped: Domain = retail;

const exchange = (order_id: string, to: string): Call => ({
  name: 'exchange_delivered_order_items',
  arguments: swapArgs(order_id, { new_item_ids: [to], payment_method_id: 'gift100' }),
});
const pay: Call = {
  name: 'modify_pending_order_payment',
  arguments: { order_id: 'P', payment_method_id: 'paypal' },
};
const cancel: Call = {
  name: 'cancel_pending_order',
  arguments: { order_id: 'P', reason: 'no longer needed' },
};

/** The calls of the two agents, and the rule that is broken after both calls. */
const SKEWS: readonly (readonly [string, Call, Call, string])[] = [
  [
    'a gift card that covers either of two exchanges',
    exchange('D', 'shirt-green'),
    exchange('D2', 'shirt-blue'),
    'GIFT_CARD_COVERS_PROMISES',
  ],
  ['a cancellation beside a change of payment', cancel, pay, 'CANCELLATION_REFUND'],
];

/**
 * The patches that an agent writes into the log: the tool's changes to its own slice, under the
 * rules that the slice can show.
 */
function written(state: RetailState, call: Call): Operation[] {
  const slice = worldOver(retail, state).slice('agent', { user: 'ann' }) as unknown as RetailState;
  const ruling = ruled(worldOver(retail, slice), call);
  expect(inWords(ruling)).toBe('pass');
  return ruling.verdict === 'approved' ? (ruling.patches() as Operation[]) : [];
}

/**
 * The state that a log folds into. Appended lists grow; any other value comes from its last writer.
 */
function folded(state: RetailState, log: readonly (readonly Operation[])[]): RetailState {
  return log.reduce(
    (now, operations) => rfc6902(now as never, appended(now, operations)) as never,
    state,
  );
}

/** An element that was added to the end of a list is added to its end as it is now. */
function appended(state: RetailState, operations: readonly Operation[]): Operation[] {
  return operations.map((operation) => {
    const [, list, index] = /^(.*)\/(\d+)$/.exec(operation.path) ?? [];
    if (operation.op !== 'add' || list === undefined || Number.isNaN(Number(index)))
      return operation;
    return {
      ...operation,
      path: `${list}/${lengthOf(state, list) + placeAmong(operations, operation.path, list)}`,
    };
  });
}

function lengthOf(state: RetailState, list: string): number {
  const found = list
    .split('/')
    .slice(1)
    .reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], state);
  return (found as unknown[]).length;
}

function placeAmong(operations: readonly Operation[], path: string, list: string): number {
  const added = operations.filter(
    ({ op, path: other }) => op === 'add' && new RegExp(`^${list}/\\d+$`).test(other),
  );
  return added.findIndex((operation) => operation.path === path);
}

describe.each(SKEWS)('%s', (_, one, other, rule) => {
  test('without the kernel both are logged, and the folded state breaks a rule', () => {
    const state = smallWorld();
    const [first, second] = [written(state, one), written(state, other)];
    expect(failing(folded(state, [first]))).toEqual([]);
    expect(failing(folded(state, [second]))).toEqual([]);
    expect(failing(folded(state, [first, second]))).toContain(rule);
    expect(failing(folded(state, [second, first]))).toContain(rule);
  });

  test.each([
    ['one first', [one, other]],
    ['the other first', [other, one]],
  ] as const)(
    'with the kernel the second call is refused in either order: %s',
    async (_, calls) => {
      const assize = runtimeOver(new MemoryStore(), [untyped]);
      const writs = ['chat', 'phone'].map((name) =>
        writFor(`agent:${name}`, { scopes: ['role:agent:ann'] }),
      );
      const trajectory = await assize.create(untyped, { initial: smallWorld(), writs });
      const role = { name: 'agent', params: { user: 'ann' } };
      // Neither has seen what the other does.
      const slices = writs.map(() => trajectory.slice('agent', role.params));
      expect(slices[0]).toEqual(slices[1]);
      const rulings = await Promise.all(
        calls.map(({ name, arguments: args }, i) =>
          trajectory.propose({ action: name, role, args, writ: writs[i] as never }),
        ),
      );
      expect(rulings.map(({ ruling }) => ruling)).toEqual(['committed', 'rejected']);
      expect(failing(trajectory.state() as unknown as RetailState)).toEqual([]);
    },
  );
});

test('concurrent agents may break the policy over a log, never over the kernel', () => {
  const call = fc.constantFrom<Call>(
    ...['shirt-blue', 'shirt-green'].flatMap((to) =>
      ['D', 'D2'].map((order) => exchange(order, to)),
    ),
    pay,
    cancel,
    { ...pay, arguments: { order_id: 'P', payment_method_id: 'gift100' } },
    {
      name: 'modify_pending_order_items',
      arguments: swapArgs('P2', { payment_method_id: 'gift100' }),
    },
  );
  let skewed = 0;
  fc.assert(
    fc.property(fc.uniqueArray(call, { minLength: 2, maxLength: 4 }), (calls) => {
      const state = smallWorld();
      if (
        breaks(
          folded(
            state,
            calls.map((each) => written(state, each)),
          ),
        )
      )
        skewed++;
      const world = worldOver(retail, state);
      for (const each of calls) {
        const ruling = ruled(world, each);
        if (ruling.verdict === 'approved') ruling.keep();
        expect(failing(world.state as unknown as RetailState)).toEqual([]);
      }
    }),
    { seed: 7, numRuns: cases(300) },
  );
  expect(skewed).toBeGreaterThan(0);
});

function breaks(state: RetailState): boolean {
  return failing(state).length > 0;
}
