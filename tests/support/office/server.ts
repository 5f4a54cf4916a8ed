/** A server of an office: an agent buys, people decide, and rules judge its tool calls. */
import { z } from 'zod';
import { ALIAS } from '#chat';
import { gateway, readRules } from '#domains/gateway';
import { incident } from '#domains/incident';
import { declareTool } from '#effects';
import { call, type Domain, defineDomain, escalate, pass, reject } from '#kernel';
import { start, type TestServer } from '../server/serving.ts';

/** The shop does not answer about this item, so a person settles its order. */
export const UNANSWERED = 'ladder';

const shop = declareTool({
  name: 'shop.order',
  input: z.object({ item: z.string(), cents: z.number().int() }),
  class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'blind' },
  writes: ['shop:**'],
  execute: ({ item }) => {
    if (item === UNANSWERED) throw new Error('The shop does not answer.');
    return { ticket: 'A-17' };
  },
});

const purchases = (version: string): Domain =>
  defineDomain({
    name: 'purchases',
    version,
    unjudgedCalls: 'allow',
    freeze: 'footprint',
    state: z.object({
      orders: z.record(
        z.string(),
        z.object({ item: z.string(), cents: z.number().int(), approved_by: z.string().optional() }),
      ),
    }),
    initial: { orders: {} },
    processes: { buying: { writes: ['/orders/{order}'] } },
    roles: { buyer: { params: ['order'], processes: ['buying'] } },
    actions: {
      buy: {
        process: 'buying',
        args: z.object({ item: z.string(), cents: z.number().int().positive() }),
        present: { title: 'Buy {item} for {cents}', fields: { cents: { money: 'EUR' } } },
        apply: (state, { item, cents }, { role }) => {
          state.orders[role.order] = { item, cents };
        },
        calls: (_state, { item, cents }) => [call(shop, { item, cents })],
      },
    },
    invariants: ({ each }) => [
      each('CAP', '/orders/*', {}, ({ cents }) =>
        cents <= 500_000 ? pass : reject('no order exceeds €5,000'),
      ),
      each(
        'LARGE',
        '/orders/*',
        {
          channel: 'manager',
          onApprove: ({ orders }, { counselor, keys: [order = ''] }) => {
            if (orders[order]) orders[order].approved_by = counselor;
          },
        },
        ({ cents, approved_by }) =>
          cents < 100_000 || approved_by ? pass : escalate('€1,000 and more need a manager'),
      ),
    ],
    counselors: { manager: (principal) => principal.startsWith('manager:') },
    memory: {
      predicates: {
        phone: { cardinality: 'single-valued', strategy: 'lww' },
        [ALIAS]: { cardinality: 'single-valued', strategy: 'await' },
      },
    },
  }) as Domain;

/** The version of the domain that the office is upgraded to. */
export const LATER: Domain = purchases('2');

const { rules } = readRules(`
id: desk
default: allow
tools:
  tickets/create: { undo: { tool: tickets/close, args: { id: /result/id } } }
  bank/pay: { class: irreversible, amounts: { cents: /cents } }
rules: [{ id: pay, ask: bank/pay }]
standing: { uses: 10, hours: 24, amounts: { cents: 50000 } }
`);

const PRINCIPALS = {
  'agent:scout': {
    kinds: ['agent'],
    grants: [
      {
        trajectories: ['office', 'branch'],
        actions: ['buy', 'shop.order', 'assize.believe', 'assize.delegate'],
        scopes: ['role:buyer:**', 'shop:**', 'memory:suppliers:**'],
        maxDepth: 2,
      },
      {
        trajectories: ['calls'],
        actions: ['call', 'begin', 'report', 'session', 'stand'],
        scopes: ['**'],
      },
    ],
  },
  'manager:grace': { kinds: ['counselor'] },
  'manager:henry': { kinds: ['counselor'] },
  'auditor:iris': { kinds: ['auditor'] },
  'admin:ann': { kinds: ['admin'] },
} as const;

export type OfficePrincipal = keyof typeof PRINCIPALS;

/** Starts it on a free port of this machine, with its ledger in memory. */
export function officeServer(webhook: string): Promise<TestServer> {
  return start({
    stopsAlone: true,
    rules,
    domains: [purchases('1'), LATER, incident, gateway({ rules })] as unknown as Domain[],
    principals: PRINCIPALS as never,
    config: {
      tools: [shop],
      worlds: {
        office: { domain: 'purchases' },
        branch: { domain: 'purchases' },
        calls: { domain: 'gateway' },
      },
      approvals: { timeoutMs: 86_400_000 },
      notices: {
        reminderSeconds: 86_398,
        webhooks: [{ url: webhook, secret: 'a-secret-of-24-characters', allowPrivate: true }],
      },
      simulations: {
        'one order': {
          description: 'An agent that orders paper.',
          domain: 'purchases',
          simulators: { 'shop.order': () => ({ ticket: 'simulated' }) },
          variants: [
            {
              name: 'paper',
              agents: [
                {
                  ...{ name: 'agent:scout', role: { name: 'buyer', params: { order: 'paper' } } },
                  decide: ({ orders }) =>
                    orders?.paper === undefined
                      ? { action: 'buy', args: { item: 'paper', cents: 4_000 } }
                      : 'done',
                },
              ],
            },
          ],
        },
      },
    },
  });
}
