/** One ruling has one document: every surface shows the same one, in every phase. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DidNothing, declareTool } from 'assize/internal/effects';
import { call, type Domain, defineDomain, escalate, pass, reject } from 'assize/internal/kernel';
import { rulingView } from 'assize/internal/views';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { ledgerClient } from '../../../../tests/support/mcp/ledger-client.ts';
import { callOperation } from '../../../../tests/support/server/calling.ts';
import { start } from '../../../../tests/support/server/serving.ts';
import { NoticeSink } from '../../../../tests/support/tools/notice-sink.ts';

const IN_TIME = { timeout: 20_000 };
const WORLD = { trajectory: 'shop' };
const SECRETS = ['the-old-secret-of-the-chat', 'the-new-secret-of-the-chat'] as const;

/** A shop whose calls end as their argument says. More than 100 need two bosses. */
function shopOf() {
  const gate = Promise.withResolvers<void>();
  const input = z.strictObject({ end: z.string() });
  const pack = declareTool({
    name: 'store.pack',
    input,
    class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
    writes: ['store:**'],
    execute: ({ end }) => ({ parcel: end }),
    compensate: () => ({ undone: 'all' }),
  });
  const ship = declareTool({
    name: 'post.ship',
    input,
    class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'blind' },
    writes: ['post:{end}'],
    execute: async ({ end }) => {
      if (end === 'waits') await gate.promise;
      if (end === 'refused' || end === 'undone') throw new DidNothing('422', { final: true });
      if (end === 'doubt') throw new Error('no answer');
      return { ticket: end };
    },
  });
  const domain = defineDomain({
    name: 'shop',
    version: '1',
    unjudgedCalls: 'allow',
    state: z.object({
      orders: z.record(z.string(), z.object({ euros: z.number(), by: z.string().optional() })),
    }),
    initial: { orders: {} },
    processes: { ordering: { writes: ['/orders/*'] } },
    roles: { clerk: { processes: ['ordering'] } },
    actions: {
      order: {
        process: 'ordering',
        args: z.object({ id: z.string(), euros: z.number(), end: z.string() }),
        apply: (state, { id, euros }) => {
          state.orders[id] = { euros };
        },
        onFailure: ({ id }) => ({ action: 'cancel', args: { id } }),
        calls: (_state, { end }) => [
          ...(end === 'undone' ? [call(pack, { end })] : []),
          ...(end === 'none' ? [] : [call(ship, { end })]),
        ],
      },
      cancel: {
        process: 'ordering',
        args: z.object({ id: z.string() }),
        apply: (state, { id }) => {
          delete state.orders[id];
        },
      },
    },
    counselors: {
      boss: (principal) => principal.startsWith('boss:'),
      operator: (name) => name.startsWith('boss:'),
    },
    invariants: ({ each }) => [
      each(
        'LARGE',
        '/orders/*',
        {
          channel: 'boss',
          approvals: 2,
          onApprove: (state, { counselor, keys: [id] }) => {
            state.orders[id as string]!.by = counselor;
          },
        },
        ({ euros, by }) => {
          if (euros > 1_000) return reject('more than 1,000');
          return euros > 100 && by === undefined ? escalate('more than 100') : pass;
        },
      ),
    ],
  }) as Domain;
  return { domain, tools: [pack, ship], open: gate.resolve };
}

type Order = { readonly id: string; readonly euros: number; readonly end: string };

async function opened(approvals: { timeoutMs?: number } = {}) {
  const sink = await NoticeSink.open();
  const { domain, tools, open } = shopOf();
  const server = await start({
    domains: [domain],
    config: {
      tools: tools as never,
      worlds: { shop: { domain: 'shop' } },
      approvals,
      notices: { webhooks: [{ url: sink.url, secret: SECRETS, allowPrivate: true }] },
    },
    principals: {
      'agent:scout': {
        kinds: ['agent'],
        grants: [
          {
            trajectories: ['shop'],
            actions: ['order', 'cancel', 'store.pack', 'post.ship'],
            scopes: ['role:clerk', 'store:**', 'post:**'],
          },
        ],
      },
      'boss:ada': { kinds: ['counselor'] },
      'boss:bob': { kinds: ['counselor'] },
      'auditor:eve': { kinds: ['auditor'] },
    },
  });
  const events: any[] = [];
  const leaving = new AbortController();
  const stream = async (from: string) => {
    const authorization = `Bearer ${server.tokens['auditor:eve']}`;
    const answer = await fetch(`${server.url}/v1/events`, {
      headers: { authorization, 'last-event-id': from },
      signal: leaving.signal,
    });
    const found: any[] = [];
    let rest = '';
    for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) {
      const blocks = (rest + piece).split('\n\n');
      rest = blocks.pop()!;
      found.push(
        ...blocks.flatMap((block) =>
          (/^data: (\{.+)$/m.exec(block) ?? []).slice(1).map((text) => JSON.parse(text)),
        ),
      );
      if (found.length >= (await server.store.logged(0, 1_000)).length) return found;
    }
    return found;
  };
  const order = (args: Order, headers: Record<string, string> = {}) =>
    callOperation(server, 'proposals.create', {
      as: 'agent:scout',
      path: WORLD,
      key: args.id,
      headers,
      body: { action: 'order', role: 'clerk', args },
    });
  const pendings = async () =>
    (await callOperation(server, 'approvals.list', { as: 'boss:ada' as never })).body.approvals;
  const approve = async (who: string, id: string) =>
    (
      await callOperation(server, 'approvals.approve', {
        as: who as never,
        path: { approval: id },
        body: { digest: (await pendings()).find((one: any) => one.id === id).digest },
      })
    ).body;
  return {
    server,
    sink,
    events,
    order,
    pendings,
    approve,
    stream,
    open,
    stop: () => leaving.abort(),
  };
}

type Shop = Awaited<ReturnType<typeof opened>>;

/** Every surface that shows the ruling on a proposal, by its name. */
const SURFACES: Record<
  string,
  (shop: Shop, args: Order, request: string | undefined) => Promise<unknown>
> = {
  'POST repeated': async ({ order }, args) => (await order(args)).body,
  'POST with Prefer: wait': async ({ order }, args) =>
    (await order(args, { prefer: 'wait=0' })).body,
  'POST of many': async ({ server }, args) => {
    const proposals = [{ key: args.id, action: 'order', role: 'clerk', args }];
    const { body } = await callOperation(server, 'proposals.create_many', {
      as: 'agent:scout',
      path: WORLD,
      body: { proposals },
    });
    return body.results[0].ruling;
  },
  'GET proposals/{key}': async ({ server }, { id }) =>
    (
      await callOperation(server, 'proposals.get', {
        as: 'agent:scout',
        path: { ...WORLD, key: id },
      })
    ).body,
  'GET approvals/{id}': async ({ server }, _args, request) => {
    if (request === undefined) return undefined;
    return (
      await callOperation(server, 'approvals.get', {
        as: 'agent:scout',
        path: { approval: request },
      })
    ).body.ruling;
  },
  'MCP approvals_get': async ({ server }, _args, request) => {
    if (request === undefined) return undefined;
    const mcp = await ledgerClient(server, { as: 'boss:ada' });
    const { structuredContent } = await mcp.call('approvals_get', { approval: request });
    await mcp.close();
    return structuredContent.ruling;
  },
  library: async ({ server }, { id }) => {
    const trajectory = await server.service.assize.open('shop');
    return rulingView((await trajectory.rulingOf(id, 'agent:scout'))!);
  },
  events: async ({ stream }, { id }) => {
    const told = (await stream('-1'))
      .filter(({ action, args }) => action === 'order' && args.includes(`"${id}"`))
      .at(-1);
    return told === undefined ? undefined : asRuling(told);
  },
  webhook: async ({ sink }, _args, request) =>
    request === undefined
      ? undefined
      : sink.of('approval.resolved').find((body) => body.request_id === request)?.ruling,
  Python: async ({ server }, { id }) => {
    const program = [
      'import json, sys; from assize.client import Client',
      'client = Client(sys.argv[1], sys.argv[2])',
      'print(json.dumps(client.proposals.ruling("shop", sys.argv[3])))',
    ].join('\n');
    const { stdout } = await promisify(execFile)(
      'python3',
      ['-c', program, server.url, server.tokens['agent:scout'], id],
      {
        env: {
          ...process.env,
          PYTHONPATH: join(import.meta.dirname, '../../../../clients/python'),
        },
      },
    );
    return JSON.parse(stdout);
  },
};

/** The members of an event that are those of a ruling. */
function asRuling({
  ruling,
  trajectory_id,
  seq,
  entry_id,
  request_id,
  unchanged,
  effects,
  calls,
  ...rest
}: any): object {
  const { reason, detail, invariant_id, findings, approval_id, channel, approvals, approved_by } =
    rest;
  const why =
    ruling === 'committed'
      ? {}
      : { reason, detail, invariant_id, findings, approval_id, channel, approvals, approved_by };
  const all = {
    ruling,
    trajectory_id,
    seq,
    entry_id,
    request_id,
    unchanged,
    effects,
    calls,
    ...why,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** Compares what every surface says with one document. Returns that document. */
async function same(shop: Shop, args: Order, request?: string): Promise<any> {
  const [named, ...others] = Object.entries(SURFACES);
  const document = await named![1](shop, args, request);
  for (const [name, read] of others) {
    const said = await read(shop, args, request);
    // A surface of ended requests says nothing about others.
    if (said !== undefined) expect(said, name).toEqual(document);
  }
  return document;
}

async function approved(shop: Shop, args: Order) {
  const asked = (await shop.order(args)).body;
  const second = await shop.approve('boss:ada', asked.approval_id);
  return {
    request: asked.approval_id as string,
    answer: shop.approve('boss:bob', second.approval_id),
    second,
  };
}

test('every surface shows the same ruling until a request is approved', async () => {
  const shop = await opened();
  const args = { id: 'a', euros: 500, end: 'done' };
  const asked = (await shop.order(args)).body;
  expect(asked).toMatchObject({
    ruling: 'escalated',
    approvals: 2,
    approved_by: [],
    request_id: asked.approval_id,
  });
  expect(await same(shop, args, asked.approval_id)).toEqual(asked);

  const second = await shop.approve('boss:ada', asked.approval_id);
  expect(second).toMatchObject({
    ruling: 'escalated',
    approved_by: ['boss:ada'],
    request_id: asked.approval_id,
  });
  expect(second.approval_id).not.toBe(asked.approval_id);
  expect(await same(shop, args, asked.approval_id)).toEqual(second);
  expect(await shop.pendings()).toMatchObject([
    { of: 'proposal', id: second.approval_id, request_id: asked.approval_id },
  ]);

  const waiting = shop.order(args, { prefer: 'wait=20' });
  const settled = await shop.approve('boss:bob', second.approval_id);
  expect(settled).toMatchObject({
    ...{ ruling: 'committed', effects: 'settled', request_id: asked.approval_id },
    calls: [{ tool: 'post.ship', phase: 'applied', answer: { ticket: 'done' } }],
  });
  expect((await waiting).body).toEqual(settled);
  expect(await same(shop, args, asked.approval_id)).toEqual(settled);
  await expect.poll(() => shop.sink.of('approval.resolved').length, IN_TIME).toBe(1);
  expect(shop.sink.of('approval.resolved')[0]).toMatchObject({
    request_id: asked.approval_id,
    ruling: settled,
  });
  expect(
    shop.sink.of('approval.requested').map((body) => [body.request_id, body.approved_by]),
  ).toEqual([
    [asked.approval_id, []],
    [asked.approval_id, ['boss:ada']],
  ]);
  expect(shop.sink.received[0]!.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/);
  shop.stop();
});

test('the ruling has calls in flight, and then their answers', async () => {
  const shop = await opened();
  const args = { id: 'a', euros: 500, end: 'waits' };
  const { request, answer } = await approved(shop, args);
  await expect.poll(async () => (await shop.order(args)).body.ruling, IN_TIME).toBe('committed');
  expect(await same(shop, args, request)).toMatchObject({
    effects: 'waiting',
    calls: [{ tool: 'post.ship' }],
  });
  const waiting = shop.order(args, { prefer: 'wait=20' });
  shop.open();
  const settled = await answer;
  expect(settled).toMatchObject({ effects: 'settled', calls: [{ answer: { ticket: 'waits' } }] });
  expect((await waiting).body).toMatchObject({ ruling: 'committed' });
  expect(await same(shop, args, request)).toEqual(settled);
  shop.stop();
});

const ENDS = [
  ['refused', 'failed', ['dropped']],
  ['undone', 'failed', ['undone', 'dropped']],
  ['doubt', 'needs_human', ['in_doubt']],
] as const;
for (const [end, effects, phases] of ENDS)
  test(`an approved call that ends as ${effects} (${end}) shows everywhere`, async () => {
    const shop = await opened();
    const args = { id: 'a', euros: 500, end };
    const { request, answer } = await approved(shop, args);
    const told = await answer;
    expect(told).toMatchObject({ ruling: 'committed', effects });
    expect(told.calls.map(({ phase }: any) => phase)).toEqual(phases);
    expect(await same(shop, args, request)).toEqual(told);
    // The same without an approval.
    const small = (await shop.order({ id: 'b', euros: 1, end: end === 'doubt' ? 'undone' : end }))
      .body;
    expect(await same(shop, { id: 'b', euros: 1, end: end === 'doubt' ? 'undone' : end })).toEqual(
      small,
    );
    shop.stop();
  });

test('a call in doubt is listed, logged and counted until it is settled', async () => {
  const shop = await opened();
  const { answer } = await approved(shop, { id: 'a', euros: 500, end: 'doubt' });
  expect(await answer).toMatchObject({ effects: 'needs_human' });
  const [listed] = (
    await callOperation(shop.server, 'approvals.list', {
      as: 'boss:ada' as never,
      query: { mine: 'true' },
    })
  ).body.approvals;
  expect(listed).toMatchObject({
    of: 'effect',
    deciders: ['boss:ada', 'boss:bob'],
    effect: { tool: 'post.ship', n: 0 },
  });
  const [card] = (
    await callOperation(shop.server, 'approvals.list', {
      ...{ as: 'boss:ada' as never, query: { mine: 'true', view: 'card' } },
    })
  ).body.cards;
  expect(card.effect).toBe('You say whether post.ship happened, or it is called again.');
  const metric = async (name: string) =>
    Number(
      new RegExp(`^assize_${name} (\\S+)$`, 'm').exec(
        (
          await shop.server.ask('GET', '/metrics', {
            token: await shop.server.tokenFor('auditor:eve'),
          })
        ).text,
      )?.[1],
    );
  await expect.poll(() => metric('effects_need_person'), IN_TIME).toBe(1);
  expect(await metric('approvals_waiting')).toBe(0);
  expect(await metric('oldest_waiting_seconds')).toBeGreaterThan(0);
  const lines = shop.server.lines
    .map((text) => JSON.parse(text))
    .filter(({ event }) => event === 'effect_needs_person');
  expect(lines).toMatchObject([{ level: 'warn', trajectory: 'shop', tool: 'post.ship', n: 0 }]);
  const { epoch } = listed.effect;
  await expect
    .poll(() => shop.sink.of('approval.requested').at(-1), IN_TIME)
    .toMatchObject({
      ...{
        of: 'effect',
        channel: 'operator',
        pending_id: listed.id,
        url: `${shop.server.url}/effects/${epoch}`,
      },
    });
  const settled = await callOperation(shop.server, 'effects.resolve', {
    as: 'boss:ada' as never,
    path: { epoch: `${epoch}`, n: '0' },
    body: { as: 'did_not_happen', evidence: 'the post has no parcel' },
  });
  expect(settled.body).toMatchObject({
    effects: [{ phase: 'undone', resolved: { as: 'undone', by: 'boss:ada' } }],
    left_in_state: {
      action: 'order',
      paths: ['/orders/a'],
      correction: { action: 'cancel', args: { id: 'a' } },
    },
  });
  await expect
    .poll(() => shop.sink.of('approval.resolved').at(-1), IN_TIME)
    .toMatchObject({
      of: 'effect',
      pending_id: listed.id,
      outcome: 'committed',
      as: 'undone',
      by: 'boss:ada',
    });
  await expect.poll(() => metric('effects_need_person'), IN_TIME).toBe(0);
  expect(await shop.pendings()).toEqual([]);
  shop.stop();
});

test('a rejected, expired or frozen proposal shows the same everywhere', async () => {
  const shop = await opened({ timeoutMs: 3_000 });
  const large = { id: 'l', euros: 5_000, end: 'none' };
  expect((await shop.order(large)).body).toMatchObject({
    ruling: 'rejected',
    invariant_id: 'LARGE',
  });
  await same(shop, large);

  const refused = { id: 'r', euros: 500, end: 'none' };
  const asked = (await shop.order(refused)).body;
  const frozen = { id: 'r', euros: 1, end: 'none' };
  const other = await callOperation(shop.server, 'proposals.create', {
    ...{ as: 'agent:scout', path: WORLD, key: 'f' },
    body: { action: 'order', role: 'clerk', args: frozen },
  });
  expect(other.body).toMatchObject({ ruling: 'frozen', by: asked.approval_id });
  const many = await callOperation(shop.server, 'proposals.create_many', {
    ...{ as: 'agent:scout', path: WORLD },
    body: { proposals: [{ key: 'f', action: 'order', role: 'clerk', args: frozen }] },
  });
  expect(many.body.results[0].ruling).toEqual(other.body);
  const rejected = (
    await callOperation(shop.server, 'approvals.reject', {
      as: 'boss:ada' as never,
      path: { approval: asked.approval_id },
      body: { reason: 'no' },
    })
  ).body;
  expect(rejected).toMatchObject({
    ruling: 'rejected',
    reason: 'counselor_rejected',
    request_id: asked.approval_id,
  });
  expect(await same(shop, refused, asked.approval_id)).toEqual(rejected);

  const late = { id: 'e', euros: 500, end: 'none' };
  const request = (await shop.order(late)).body.approval_id;
  const expired = (await shop.order(late, { prefer: 'wait=20' })).body;
  expect(expired).toMatchObject({ ruling: 'rejected', reason: 'expired', request_id: request });
  expect(await same(shop, late, request)).toEqual(expired);
  shop.stop();
});
