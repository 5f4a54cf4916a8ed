/** A shop in which every callback of the domain goes through the hands of a caller. */
import { z } from 'zod';
import type { Domain } from '../../../packages/assize/src/public/index.ts';
import * as index from '../../../packages/assize/src/public/index.ts';
import type { Hands } from './hands.ts';
import { type ShopTools, shopTools } from './shop-tools.ts';

export interface Shop {
  readonly domain: Domain;
  /** The same shop with a further version. */
  readonly next: Domain;
  readonly tools: readonly ShopTools[keyof ShopTools][];
}

export type Freeze = 'world' | 'footprint' | 'reserve';

const { pass } = index;

const stateOf = (text: z.ZodType) =>
  z.object({
    accounts: z.record(
      z.string(),
      z.object({ owner: z.string(), cents: z.int(), tags: z.array(z.string()) }),
    ),
    limits: z.record(z.string(), z.int()),
    paid: z.record(z.string(), z.object({ cents: z.int(), by: z.array(z.string()) })),
    desks: z.record(z.string(), z.int()),
    notes: z.record(z.string(), text),
    log: z.array(z.string()),
  });

const initial = {
  accounts: {
    ann: { owner: 'Ann', cents: 900, tags: ['new'] },
    bob: { owner: 'Bob', cents: 100, tags: [] },
  },
  limits: { ann: 5_000, bob: 5_000 },
  paid: {},
  desks: { d1: 0 },
  notes: {},
  log: ['opened'],
};

export function shopOf(hands: Hands, freeze: Freeze): Shop {
  const tools = shopTools(hands);
  const domain = domainOf(hands, freeze, tools, '1');
  return { domain, next: domainOf(hands, freeze, tools, '2'), tools: Object.values(tools) };
}

function domainOf(hands: Hands, freeze: Freeze, tools: ShopTools, version: string): Domain {
  const on = hands.callback.bind(hands);
  const { call, defineDomain, escalate, reject, sensitive, ...functions } = hands.module(index);
  const rules: any = functions;
  const text = sensitive(z.string());
  const draft = <Code extends (...args: any[]) => unknown>(name: string, code: Code): Code =>
    on(name, code, 'draft');
  return defineDomain<any, any>({
    name: 'shop',
    version,
    state: stateOf(text),
    initial,
    freeze,
    processes: {
      transfer: { reads: ['/limits/*'], writes: ['/accounts/*', '/desks/{desk}', '/log/-'] },
      paying: { reads: ['/accounts/*'], writes: ['/paid/*'] },
      noting: { writes: ['/notes/*'] },
    },
    roles: {
      clerk: { params: ['desk'], processes: ['transfer', 'paying'] },
      writer: { processes: ['noting', 'paying'] },
    },
    counselors: {
      manager: on('CounselorPredicate', (principal: string) => principal.startsWith('manager:')),
      doctor: on('CounselorPredicate', (principal: string) => principal.startsWith('doctor:')),
    },
    memory: {
      predicates: {
        weight: { cardinality: 'single-valued', strategy: 'lww', description: 'in kilograms' },
        diagnosis: { cardinality: 'single-valued', strategy: 'await', channel: 'doctor' },
        triage: { cardinality: 'single-valued', strategy: 'rule' },
      },
    },
    actions: {
      move: {
        process: 'transfer',
        args: z.object({
          from: z.string(),
          to: z.string(),
          cents: z.int(),
          tags: z.array(z.string()),
        }),
        apply: draft(
          'Action.apply',
          (shop: any, { from, to, cents, tags }: any, { role, observations, calls }: any) => {
            shop.accounts[from].cents -= cents;
            shop.accounts[to].cents += cents;
            shop.accounts[to].tags = [
              ...tags,
              ...observations.map(({ name }: { name: string }) => name),
            ].slice(0, 4);
            shop.desks[role.desk] = (shop.desks[role.desk] ?? 0) + 1;
            shop.log.push(`${from} to ${to} with ${calls.length}`);
          },
        ),
        scopes: on('Action.scopes', ({ from }: any) => [`account:${from}`]),
        cost: on('Action.cost', ({ cents }: any) => ({ cents })),
      },
      pay: {
        process: 'paying',
        args: z.object({
          to: z.string(),
          cents: z.int(),
          note: z.object({ of: z.array(z.string()) }).optional(),
        }),
        apply: draft('Action.apply', (shop, { to, cents }) => {
          shop.paid[to] = { cents, by: [] };
        }),
        calls: on('Action.calls', (_shop: unknown, { to, cents }: any) => [
          call(tools.pay, { to, cents, tags: ['t'] }),
        ]),
        beliefs: on('Action.beliefs', ({ to, cents }: any) => [
          {
            verb: 'assert',
            space: 'ward',
            subject: to,
            predicate: 'weight',
            object: `${cents} kg`,
          },
        ]),
        onApprove: draft('Action.onApprove', (shop, { to }, { counselor }) => {
          shop.paid[to].by.push(counselor);
        }),
        onFailure: on('Action.onFailure', ({ to }: any) => ({ action: 'unpay', args: { to } })),
      },
      ask: {
        process: 'paying',
        args: z.object({ to: z.string(), cents: z.int() }),
        approvals: 2,
        channel: 'manager',
        apply: draft('Action.apply', (shop, { to, cents }) => {
          shop.paid[to] = { cents, by: [] };
        }),
      },
      unpay: {
        process: 'paying',
        args: z.object({ to: z.string() }),
        apply: draft('Action.apply', (shop, { to }) => {
          delete shop.paid[to];
        }),
      },
      note: {
        process: 'noting',
        args: z.object({ id: z.string(), text }),
        apply: draft('Action.apply', (shop, { id, text }) => {
          shop.notes[id] = text;
        }),
      },
    },
    invariants: [
      rules.invariant(
        'ACCOUNTS',
        ['/desks'],
        on('PlainInvariant.check', ({ desks }: any, { all }: any) =>
          all.count('Ann') + Object.keys(desks).length > 0 && all.sum('Bob') >= 0
            ? pass
            : reject('no accounts'),
        ),
        {
          index: {
            all: {
              path: '/accounts/*',
              per: on('Index.per', ({ owner }: any) => owner),
              of: on('Index.of', ({ cents }: any) => cents),
            },
          },
        },
      ),
      rules.each(
        'LIMITED',
        '/accounts/*',
        {
          reads: ['/limits/*'],
          with: on('EachInvariant.with', (_: any, [name]: any) => ({ limit: `/limits/${name}` })),
        },
        on('EachInvariant.check', ({ cents }: any, { limit }: any) =>
          cents <= limit ? pass : reject(`above ${limit}`),
        ),
      ),
      rules.unique(
        'OWNERS',
        '/accounts/*',
        {
          by: on('UniqueInvariant.by', ({ owner, tags }: any) => [
            tags.includes('twin') ? 'twin' : owner,
            'owner',
          ]),
        },
        on('UniqueInvariant.check', (places: any) => reject(`${places.length} accounts`)),
      ),
      rules.sum(
        'SOLVENT',
        '/accounts/*',
        {
          of: on('SumInvariant.of', ({ cents }: any) => cents),
          per: on('SumInvariant.per', ({ owner }: any) => owner),
          reads: ['/desks/*'],
          with: on('SumInvariant.with', () => ({ desk: '/desks/d1' })),
        },
        on('SumInvariant.check', (sum: any, { desk }: any) =>
          sum >= 0 && desk >= 0 ? pass : reject(`${sum} is left`),
        ),
      ),
      rules.count(
        'FEW',
        '/paid/*',
        {
          where: on('CountInvariant.where', ({ cents }: any) => cents > 0),
          per: on('CountInvariant.per', () => 'paid'),
          reads: ['/limits/*'],
          with: on('CountInvariant.with', () => ({ limit: '/limits/ann' })),
        },
        on('CountInvariant.check', (count: any, { limit }: any) =>
          count <= limit ? pass : reject('too many'),
        ),
      ),
      rules.each(
        'ABOVE_500',
        '/paid/*',
        {
          channel: 'manager',
          onApprove: draft('InvariantOptions.onApprove', (shop, { counselor, keys: [to] }) => {
            if (!shop.paid[to].by.includes(counselor)) shop.paid[to].by.push(counselor);
          }),
        },
        on('EachInvariant.check', ({ cents, by }: any) =>
          cents <= 500 || by.length > 0 ? pass : escalate(`${cents} cents`),
        ),
      ),
      rules.each(
        'ABOVE_5000',
        '/paid/*',
        { channel: 'manager', approvals: 2 },
        on('EachInvariant.check', ({ cents }: any) =>
          cents <= 5_000 ? pass : escalate(`${cents} cents, and no mark helps`),
        ),
      ),
      rules.eachCall(
        'CALLS',
        '**',
        {
          reads: ['/limits/*'],
          with: on('CallInvariant.with', ({ input }: any) => ({ limit: `/limits/${input.to}` })),
        },
        on('CallInvariant.check', ({ input }: any, { limit }: any) =>
          (input.cents ?? 0) <= (limit ?? 9_000) ? pass : reject('above the limit'),
        ),
      ),
    ],
  });
}
