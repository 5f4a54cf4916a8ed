/**
 * An agent serves one user. The agent neither sees nor changes another user's data, even with a
 * tool that would.
 */

import { MemoryStore } from '@assize/testing/memory';
import { generateKeys } from 'assize';
import { type Domain, defineDomain } from 'assize/internal/kernel';
import { describe, expect, test } from 'vitest';
import { runtimeOver, writFor } from '../../../tests/support/ledger/runtime.ts';
import { recordedTask } from '../tau/index.ts';
import { adjudicateRetail } from './adjudicate.ts';
import { authenticatedUser } from './authentication.ts';
import { retail } from './index.ts';
import { retailRecordsOf } from './initial.ts';
import { policy } from './policy.ts';
import { processes, roles } from './roles.ts';
import { type RetailState, retailState } from './schema.ts';
import { inWords, ruled, worldOver } from './testing/kernel.ts';
import { ADDRESS, returnArgs, smallWorld, swapArgs } from './testing/small-world.ts';
import { actions } from './tools.ts';

const ann = { name: 'agent', params: { user: 'ann' } };
const bob = { name: 'agent', params: { user: 'bob' } };

/** Takes what comes, also what would not compile. */
const untyped: Domain = retail;

async function shop() {
  const writ = writFor('agent:chat', { scopes: ['role:agent:ann'] });
  const assize = runtimeOver(new MemoryStore(), [untyped]);
  const trajectory = await assize.create(untyped, { initial: smallWorld(), writs: [writ] });
  const propose = (role: typeof ann, action: string, args: object) =>
    trajectory.propose({ action, role, args, writ });
  return { trajectory, propose };
}

describe('an agent of ann', () => {
  test('sees her profile, her orders and the products, and no other user’s data', async () => {
    const { trajectory } = await shop();
    const slice = trajectory.slice('agent', ann.params) as RetailState;
    expect(Object.keys(slice.users)).toEqual(['ann']);
    expect(Object.keys(slice.orders)).toEqual(['ann']);
    expect(Object.keys(slice.products)).toEqual(['shirt', 'shoe']);
    expect(JSON.stringify(slice)).not.toContain('bob');
  });

  test('acts for her and for no other user', async () => {
    const { propose } = await shop();
    expect(await propose(ann, 'return_delivered_order_items', returnArgs('D'))).toMatchObject({
      ruling: 'committed',
    });
    expect(await propose(bob, 'return_delivered_order_items', returnArgs('B'))).toMatchObject({
      ruling: 'rejected',
      reason: 'invalid_authority',
    });
    expect(await propose(ann, 'return_delivered_order_items', returnArgs('B'))).toMatchObject({
      ruling: 'rejected',
      reason: 'precondition_failed',
      detail: 'order not found',
    });
    expect(await propose(ann, 'modify_user_address', { user_id: 'bob', ...ADDRESS })).toMatchObject(
      {
        ruling: 'rejected',
        reason: 'precondition_failed',
        detail: 'user not found',
      },
    );
    expect(await propose(ann, 'modify_user_address', { user_id: 'ann', ...ADDRESS })).toMatchObject(
      {
        ruling: 'committed',
      },
    );
  });
});

describe('a tool that changes more than it should', () => {
  /** The items' tool does more than it should, after what it should. */
  function bent(more: (state: RetailState) => void): Domain {
    const tool = actions.modify_pending_order_items;
    return defineDomain({
      name: 'retail',
      version: 'bent',
      state: retailState,
      processes,
      roles,
      actions: {
        ...actions,
        modify_pending_order_items: {
          ...tool,
          apply: (state, args, context) => {
            tool.apply(state, args, context);
            more(state);
          },
        },
      },
      invariants: policy,
    });
  }

  const call = { name: 'modify_pending_order_items', arguments: swapArgs('P') };

  test.each<[string, (state: RetailState) => void, string]>([
    ['nothing more', () => {}, 'pass'],
    [
      'another user’s address',
      ({ users }) => Object.assign(users['bob'] ?? {}, { address: ADDRESS }),
      'invalid_authority',
    ],
    [
      'another user’s order',
      ({ orders }) => Object.assign(orders['bob']?.['B'] ?? {}, { status: 'cancelled' }),
      'invalid_authority',
    ],
    [
      'another user’s gift card',
      ({ users }) => Object.assign(users['bob']?.payment_methods['gift'] ?? {}, { balance: 0 }),
      'invalid_authority',
    ],
    [
      'a price of the shop',
      ({ products }) => Object.assign(products['shirt']!.variants['shirt-red']!, { price: 1 }),
      'invalid_authority',
    ],
    [
      'an order’s owner',
      ({ orders }) => Object.assign(orders['ann']!['P']!, { user_id: 'bob' }),
      'invalid_authority',
    ],
    [
      'a row that was written before',
      ({ events }) => events['ann']!['P']!.pop(),
      'invalid_authority',
    ],
    [
      'money back',
      ({ orders }) => {
        const refund = {
          transaction_type: 'refund',
          amount: 5.1,
          payment_method_id: 'card',
        } as const;
        orders['ann']!['P']!.payment_history.push(refund);
      },
      'reject ORDER_IS_PAID',
    ],
    [
      'a status that leaves room for more',
      ({ orders }) => Object.assign(orders['ann']!['P']!, { status: 'pending' }),
      'reject EVENTS_ON_RECORD',
    ],
  ])('%s', (_, more, words) => {
    expect(inWords(ruled(worldOver(bent(more), smallWorld()), call))).toBe(words);
  });
});

describe('the authenticated user', () => {
  const byEmail = (email: unknown) => ({ name: 'find_user_id_by_email', arguments: { email } });
  const byName = (first_name: string, zip: string) => ({
    name: 'find_user_id_by_name_zip',
    arguments: { first_name, last_name: 'lee', zip },
  });
  const world = smallWorld();

  test.each([
    ['by email, however it is written', [byEmail('ANN@example.com')], 'ann'],
    ['by name and zip code', [byName('Ann', '2')], 'ann'],
    ['not by a name with another zip code', [byName('Ann', '3')], undefined],
    [
      'the first who is found',
      [byEmail('nobody@example.com'), byEmail('bob@example.com'), byEmail('ann@example.com')],
      'bob',
    ],
    [
      'nobody by an order',
      [{ name: 'get_order_details', arguments: { order_id: 'D' } }],
      undefined,
    ],
    ['nobody by a value that is not text', [byEmail(7)], undefined],
    ['nobody by nothing', [], undefined],
  ])('%s', (_, calls, user) => {
    expect(authenticatedUser(calls, world)).toBe(user);
  });
});

test('a solution without a look-up acts for the user of its task', async () => {
  const records = retailRecordsOf(smallWorld());
  const task = (user_id?: string) =>
    recordedTask.parse({
      ...{
        task_id: 1,
        actions: [{ name: 'modify_user_address', arguments: { user_id: 'ann', ...ADDRESS } }],
      },
      ...(user_id !== undefined && { user_id }),
    });
  const outcome = async (user_id?: string) => {
    const store = new MemoryStore();
    const options = {
      store,
      keys: generateKeys(),
      runs: [task(user_id)],
      mode: 'policy',
      escalations: 'reject',
    } as const;
    const { committed, rejected } = await adjudicateRetail({ ...options, ...records });
    return { committed, rejected };
  };
  expect(await outcome('ann')).toEqual({ committed: 1, rejected: {} });
  expect(await outcome()).toEqual({ committed: 0, rejected: { type_mismatch: 1 } });
  expect((await outcome('bob')).committed).toBe(0);
});
