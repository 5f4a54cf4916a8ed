/** Proposals and entries in the words of a domain and of a rules file. */

import { gateway, readRules } from '@assize/gate/unstable/gateway';
import { declareTool } from 'assize/internal/effects';
import { call, type Domain, defineDomain, escalate } from 'assize/internal/kernel';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { succeed } from '../../../../tests/support/server/calling.ts';
import { start } from '../../../../tests/support/server/serving.ts';

const cents = z.int().positive();
const transfer = declareTool({
  name: 'bank.transfer',
  input: z.object({ cents }),
  class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
  writes: ['bank:**'],
  execute: () => undefined,
  compensate: () => ({ undone: 'all' }),
});
const bills = defineDomain({
  name: 'bills',
  version: '1',
  state: z.object({ paid: z.record(z.string(), cents) }),
  initial: { paid: {} },
  processes: { paying: { writes: ['/paid/*'] } },
  roles: { clerk: { processes: ['paying'] } },
  actions: {
    pay: {
      process: 'paying',
      args: z.object({ to: z.string(), cents }),
      present: { title: 'Pay {to} {cents}', fields: { cents: { money: 'EUR' } } },
      apply: (state, { to, cents }) => {
        state.paid[to] = cents;
      },
      calls: (_state, { cents }) => [call(transfer, { cents })],
    },
  },
  invariants: ({ eachCall }) => [
    eachCall('ALL', transfer, { channel: 'boss' }, () => escalate('each payment')),
  ],
  counselors: { boss: (principal) => principal.startsWith('human:') },
}) as unknown as Domain;

const { rules, presented } = readRules(`id: team
tools:
  desk/book:
    class: reversible
    undo: { tool: desk/cancel, args: { room: /args/room } }
    present: { title: "Book {room} for {price}", fields: { price: { money: in } } }
rules: [{ id: all, ask: '*' }]
`);
const AS = { as: 'human:grace' as never };

test('the inbox, its detail and the entries say what is asked', async () => {
  const server = await start({
    domains: [bills, gateway({ rules, presented }) as unknown as Domain],
    rules,
    config: {
      worlds: { bills: { domain: 'bills' }, calls: { domain: 'gateway' } },
      tools: [transfer],
    },
    principals: {
      'agent:scout': {
        kinds: ['agent'],
        grants: [{ actions: ['pay', 'bank.transfer', 'call'], scopes: ['**'] }],
      },
      'human:grace': { kinds: ['counselor', 'auditor'] },
    } as never,
  });
  const propose = async (trajectory: string, body: object): Promise<string> => {
    const { body: answer } = await server.ask('POST', `/v1/trajectories/${trajectory}/proposals`, {
      ...{ token: server.tokens['agent:scout'], key: trajectory, body },
    });
    expect(answer.ruling).toBe('escalated');
    return answer.approval_id;
  };
  const paying = await propose('bills', {
    ...{ action: 'pay', role: 'clerk', args: { to: 'carla', cents: 124_000 } },
  });
  const booking = await propose('calls', {
    action: 'call',
    role: { name: 'agent', params: { agent: 'scout' } },
    args: { server: 'desk', tool: 'book', args: { room: '7', price: '80.50', in: 'USD' } },
  });

  const { cards, ...list } = await succeed(server, 'approvals.list', {
    ...{ ...AS, query: { view: 'card' } },
  });
  expect(list).toEqual({ approvals: [] });
  expect(cards.map((card: any) => [card.title, card.undo])).toEqual([
    ['Pay carla €1,240.00', { can: true, by: 'hand' }],
    ['Book 7 for $80.50', { can: true, by: 'desk/cancel' }],
  ]);
  const shownOf = async (approval: string) =>
    (await succeed(server, 'approvals.get', { ...AS, path: { approval } })).approval;
  expect((await shownOf(paying)).present.title).toBe('Pay {to} {cents}');
  expect((await shownOf(booking)).card.fields[0]).toEqual({
    at: '/args/price',
    label: 'Price',
    text: '$80.50',
    amount: { currency: 'USD', minor: 8_050 },
  });

  const { approvals } = await succeed(server, 'approvals.list', AS);
  const ids = approvals.map(({ id, card }: any) => [id, card]);
  expect(ids).toEqual(cards.map(({ id }: any) => [id, undefined]));
  const { card } = await succeed(server, 'approvals.get', {
    ...{ ...AS, path: { approval: paying }, query: { view: 'card' } },
  });
  expect(card).toEqual({ ...cards[0], waiting: 0, contradictions: [] });
  expect(card).toMatchObject({ effect: 'Calls bank.transfer.', page: `/inbox/${paying}` });
  expect(cards[1]).toMatchObject({
    action: 'desk/book',
    effect: 'The agent calls desk/book, once.',
  });

  const titles = ({ entries }: any) => entries.flatMap(({ title = [] }: any) => title);
  expect(titles(await succeed(server, 'entries.find', AS))).toEqual(
    expect.arrayContaining(['Book 7 for $80.50', 'Pay carla €1,240.00']),
  );
  for (const [amount, found] of [
    ['80.51', ['Pay carla €1,240.00']],
    ['80.5', ['Book 7 for $80.50', 'Pay carla €1,240.00']],
    ['1240.01', []],
  ] as const)
    expect(titles(await succeed(server, 'entries.find', { ...AS, query: { amount } }))).toEqual(
      found,
    );
  const listed = await succeed(server, 'entries.list', { ...AS, path: { trajectory: 'bills' } });
  expect(titles(listed)).toEqual(['Pay carla €1,240.00']);
});
