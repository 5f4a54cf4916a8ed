/**
 * Attacks 82 and 83 of docs/design/threats.md, and the rest of Slack as a receiver of notices: its
 * cards and buttons, against a stand-in on this machine.
 */
import { MemoryStore } from '@assize/testing/memory';
import { call, type Domain, defineDomain, escalate, pass } from 'assize/internal/kernel';
import type { Store } from 'assize/internal/stores';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { HandClock } from '../../../../tests/support/ledger/runtime.ts';
import { PRINCIPALS, start, type TestServer } from '../../../../tests/support/server/serving.ts';
import { bank } from '../../../../tests/support/server/till.ts';
import { NoticeSink } from '../../../../tests/support/tools/notice-sink.ts';
import {
  buttonsIn,
  type Pressing,
  SIGNING_SECRET,
  SlackDesk,
  type SlackMessage,
  TEAM,
  TOKEN,
} from '../../../../tests/support/tools/slack-desk.ts';
import { cardKind } from '../../src/notices/queue/delivery-rows.ts';
import { receiversOf } from '../../src/notices/receivers.ts';

const args = z.object({ to: z.string(), cents: z.number().int(), note: z.string().optional() });
const apply = (state: { paid: object[] }, given: object) => void state.paid.push(given);
const present = {
  title: 'Pay {to} {cents}',
  fields: { cents: { label: 'Amount', money: 'EUR' } },
};

/** Payments that wait: `pay`, `pair` for two bosses, `wire` for good, `plain` without words. */
const shop: Domain = defineDomain({
  ...{ name: 'shop', version: '1', unjudgedCalls: 'allow' },
  state: z.object({ paid: z.array(args.extend({ by: z.string().optional() })) }),
  initial: { paid: [] },
  processes: { paying: { writes: ['/paid'] } },
  roles: { clerk: { processes: ['paying'] } },
  actions: {
    pay: { process: 'paying', args, apply, present },
    pair: { process: 'paying', args, apply, present, approvals: 2 },
    wire: {
      ...{ process: 'paying', args, apply, present },
      calls: (_: unknown, { cents }: any) => [call(bank, { cents })],
    },
    plain: { process: 'paying', args, apply },
  },
  invariants: ({ each }: any) => [
    each(
      'ASK',
      '/paid/*',
      {
        channel: 'boss',
        onApprove: (state: any, { counselor, keys: [i] }: any) => {
          state.paid[Number(i)].by = counselor;
        },
      },
      ({ by }: any) => (by === undefined ? escalate('each payment') : pass),
    ),
  ],
  counselors: { boss: (principal: string) => principal.startsWith('boss:') },
} as any) as Domain;

const principals = {
  ...PRINCIPALS,
  'agent:scout': { kinds: ['agent'], grants: [{ actions: ['*'] }] },
  'agent:other': { kinds: ['agent'] },
  'boss:ada': { kinds: ['counselor'], slack: `${TEAM}/U0ADA` },
  'boss:bob': { kinds: ['counselor'], slack: `${TEAM}/U0BOB` },
  'auditor:eve': { kinds: ['auditor'], slack: `${TEAM}/U0EVE` },
} as const;

let slack: SlackDesk;
beforeEach(async () => {
  slack = await SlackDesk.open();
  const opened = slack;
  return async () => opened[Symbol.asyncDispose]();
});

interface Serving {
  readonly store?: Store;
  readonly notices?: object;
  readonly slack?: object;
}

const serving = ({ store, notices, slack: more }: Serving = {}): Promise<TestServer> =>
  start({
    ...(store !== undefined && { store }),
    domains: [shop],
    principals: principals as never,
    config: {
      worlds: { main: { domain: 'shop' } },
      notices: {
        slack: {
          ...{ token: TOKEN, channel: 'C0DESK', apiUrl: slack.apiUrl },
          ...{ signingSecret: SIGNING_SECRET, ...more },
        },
        ...notices,
      },
    },
  });

let key = 0;
async function propose(server: TestServer, action: string, cents = 124_000): Promise<string> {
  const { body } = await server.ask('POST', '/v1/trajectories/main/proposals', {
    ...{ token: server.tokens['agent:scout'], key: String(key++) },
    body: {
      ...{ action, role: { name: 'clerk', params: {} } },
      args: { to: '<!channel|carla>', cents, note: `secret note` },
    },
  });
  return body.approval_id;
}

const cards = (count: number): Promise<void> =>
  expect.poll(() => slack.cards.length, { timeout: 8_000 }).toBe(count);
const shows = (text: string, n = 0): Promise<void> =>
  expect.poll(() => JSON.stringify(slack.cards[n]?.body ?? ''), { timeout: 8_000 }).toContain(text);
const told = (text: string): Promise<void> =>
  expect
    .poll(() => JSON.stringify(slack.of('chat.postEphemeral')), { timeout: 8_000 })
    .toContain(text);
const card = (n = 0): SlackMessage => slack.cards[n] as SlackMessage;

async function endOf(server: TestServer, id: string): Promise<any> {
  const { body } = await server.ask('GET', `/v1/approvals/${id}`, {
    token: server.tokens['auditor:eve'],
  });
  if (body.status !== 'resolved') return body;
  const path = `/v1/entries/${body.ruling.entry_id}`;
  return (await server.ask('GET', path, { token: server.tokens['auditor:eve'] })).body;
}

describe('the card', () => {
  test('says it as the inbox does, without an argument that has no words', async () => {
    const server = await serving();
    const id = await propose(server, 'pay');
    await cards(1);
    const text = JSON.stringify(card().body);
    for (const said of ['€1,240.00', 'If you approve: ', 'each payment', `/inbox/${id}|More`])
      expect(text).toContain(said);
    expect(text).not.toContain('secret note');
    // Only the link is read as marks of Slack; a plain text of the ledger cannot call a channel.
    expect(JSON.stringify(card().body.blocks.filter(isMarked))).not.toContain('channel');
    expect(card().body.text).toContain('&lt;!channel|carla&gt;');
    expect(buttonsIn(card()).map(({ action_id }) => action_id)).toEqual(['approve', 'reject']);
  });

  test.each([
    ['cannot be undone', 'wire', {}],
    ['is over the limit', 'pay', { amounts: { EUR: 123_999 } }],
    ['has an amount without a limit', 'pay', { amounts: { USD: 999_999 } }],
    ['has no words', 'plain', {}],
    ['has no signing secret', 'pay', { signingSecret: undefined }],
  ])('of what %s has no buttons', async (_, action, more: object) => {
    const server = await serving({ slack: more });
    await propose(server, action);
    await cards(1);
    expect(buttonsIn(card())).toEqual([]);
    await shows('Decide on the page');
  });

  test('is closed when the proposal is decided elsewhere', async () => {
    const server = await serving();
    const id = await propose(server, 'pay');
    await cards(1);
    await server.ask('POST', `/v1/approvals/${id}/reject`, {
      ...{ token: server.tokens['boss:bob'], body: { reason: 'not now' } },
    });
    await shows('Rejected by boss:bob');
    expect(buttonsIn(card())).toEqual([]);
    const [{ id: receiver } = { id: '' }] = receiversOf([], new Map(), server.config.chats);
    await expect
      .poll(() => server.store.sideList(cardKind(receiver), { limit: 9 }), { timeout: 8_000 })
      .toEqual([]);
  });

  test('says what the ledger says, also when an older change comes last', async () => {
    const server = await serving();
    const id = await propose(server, 'pair');
    await cards(1);
    const gate = Promise.withResolvers<void>();
    slack.held.set('chat.update', gate.promise);
    const before = slack.arrived;
    const approve = async (id: string, token: string): Promise<any> => {
      const { digest } = (await endOf(server, id)).approval;
      return server.ask('POST', `/v1/approvals/${id}/approve`, { token, body: { digest } });
    };
    const first = await approve(id, server.tokens['boss:ada']);
    await expect.poll(() => slack.arrived, { timeout: 8_000 }).toBe(before + 1);
    slack.held.clear();
    await approve(first.body.approval_id, server.tokens['boss:bob']);
    await shows('Approved by boss:ada and boss:bob');
    const changes = slack.of('chat.update').length;
    gate.resolve();
    await expect
      .poll(() => slack.of('chat.update').length, { timeout: 8_000 })
      .toBeGreaterThan(changes + 1);
    await shows('Approved by boss:ada and boss:bob');
    expect(buttonsIn(card())).toEqual([]);
  });

  test('is posted again after a member deleted it', async () => {
    const server = await serving();
    const id = await propose(server, 'pair');
    await cards(1);
    slack.messages.clear();
    await server.ask('POST', `/v1/approvals/${id}/approve`, {
      token: server.tokens['boss:ada'],
      body: { digest: (await endOf(server, id)).approval.digest },
    });
    await cards(1);
    await shows('given by boss:ada');
  });

  test('comes when Slack answers again, and its token is in no log', async () => {
    slack.faults.set('chat.postMessage', {
      status: 429,
      body: '{"ok":false,"error":"ratelimited"}',
    });
    const server = await serving();
    await propose(server, 'pay');
    await expect.poll(() => server.lines.join('\n'), { timeout: 8_000 }).toContain('ratelimited');
    slack.faults.clear();
    slack.messages.clear();
    await cards(1);
    expect(server.lines.join('\n')).not.toMatch(new RegExp(`${TOKEN}|${SIGNING_SECRET}`));
  });
});

describe('a button', () => {
  test('approves what the card showed, as the person of the member', async () => {
    const server = await serving();
    const id = await propose(server, 'pay');
    await cards(1);
    expect((await slack.press(server.url, card(), 'approve')).status).toBe(200);
    await shows('Approved by boss:ada at');
    const { payload } = await endOf(server, id);
    expect(payload.counselor).toMatchObject({ principal: 'boss:ada', method: 'slack' });
  });

  test('asks for a reason, and rejects with it', async () => {
    const server = await serving();
    const id = await propose(server, 'pay');
    await cards(1);
    await slack.press(server.url, card(), 'reject');
    await expect.poll(() => slack.of('views.open').length, { timeout: 8_000 }).toBe(1);
    expect((await endOf(server, id)).status).toBe('pending');
    expect((await slack.submit(server.url, 'wrong payee')).status).toBe(200);
    await shows('Rejected by boss:ada');
    expect(JSON.stringify((await endOf(server, id)).payload)).toContain('wrong payee');
    expect((await endOf(server, id)).payload.counselor.method).toBe('slack');
  });

  test('decides once: a double click, a repetition and another person', async () => {
    const server = await serving();
    await propose(server, 'pay');
    await cards(1);
    const before = card();
    const clicks = [
      slack.press(server.url, before, 'approve'),
      slack.press(server.url, before, 'approve'),
      slack.press(server.url, before, 'approve', { headers: { 'x-slack-retry-num': '1' } }),
      slack.press(server.url, before, 'approve', { user: 'U0BOB' }),
    ];
    expect((await Promise.all(clicks)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await shows('Approved by boss:');
    await expect.poll(() => slack.of('chat.postEphemeral').length, { timeout: 8_000 }).toBe(3);
    await told('is no longer pending: it was approved by boss:');
    const state = await server.ask('GET', '/v1/trajectories/main/state', {
      token: server.tokens['auditor:eve'],
    });
    expect(state.body.state.paid).toHaveLength(1);
  });

  test('of two persons where two are needed: the second one commits', async () => {
    const server = await serving();
    const id = await propose(server, 'pair');
    await cards(1);
    const first = card();
    await slack.press(server.url, first, 'approve');
    await shows('given by boss:ada');
    const second = card();
    expect(second.ts).toBe(first.ts);
    await slack.press(server.url, second, 'approve');
    await told('boss:ada has already approved');
    await slack.press(server.url, first, 'approve', { user: 'U0BOB' });
    await told('Another approver has approved');
    expect((await endOf(server, id)).status).toBe('pending');
    await slack.press(server.url, second, 'approve', { user: 'U0BOB' });
    await shows('Approved by boss:ada and boss:bob');
  });

  test.each([
    ['a member without a principal', { user: 'U0ZED' }, 'names nobody as T0DESK/U0ZED'],
    ['the same id of another workspace', { team: 'T0OTHER' }, 'names nobody as T0OTHER/U0ADA'],
    ['an auditor', { user: 'U0EVE' }, 'auditor:eve may not use this operation'],
  ])('of %s decides nothing, and says so to that member', async (_, how: Pressing, text) => {
    const server = await serving();
    const id = await propose(server, 'pay');
    await cards(1);
    await slack.press(server.url, card(), 'approve', how);
    await told(text);
    expect(slack.of('chat.postEphemeral')[0]).toMatchObject({ user: how.user ?? 'U0ADA' });
    expect((await endOf(server, id)).status).toBe('pending');
  });

  test('with another digest decides nothing', async () => {
    const server = await serving();
    const id = await propose(server, 'pay');
    await cards(1);
    const value = JSON.stringify({ approval: id, digest: 'a'.repeat(64) });
    await slack.press(server.url, card(), 'approve', { value });
    await told('digest');
    expect((await endOf(server, id)).status).toBe('pending');
  });

  test('of what the page decides alone decides nothing', async () => {
    const server = await serving();
    const id = await propose(server, 'wire');
    await cards(1);
    const { digest } = (await endOf(server, id)).approval;
    const value = JSON.stringify({ approval: id, digest });
    await slack.press(server.url, card(), 'approve', { value });
    await told('decided on the page alone');
    expect((await endOf(server, id)).status).toBe('pending');
  });

  test.each([
    ['a forged signature', { secret: 'another-secret-of-32-characters!' }],
    ['no signature', { signature: '' }],
    ['a cut signature', { signature: 'v0=' }],
    ['an old time', { seconds: Math.floor(Date.now() / 1_000) - 301 }],
    ['a future time', { seconds: Math.floor(Date.now() / 1_000) + 3_600 }],
    ['another time than the signed one', { headers: { 'x-slack-request-timestamp': '1' } }],
  ])('with %s is refused', async (_, how) => {
    const server = await serving();
    const id = await propose(server, 'pay');
    await cards(1);
    expect((await slack.press(server.url, card(), 'approve', how)).status).toBe(401);
    expect((await endOf(server, id)).status).toBe('pending');
  });

  test('a payload of another kind or form is acknowledged, and does nothing', async () => {
    const server = await serving();
    const id = await propose(server, 'pay');
    await cards(1);
    const calls = slack.calls.length;
    for (const payload of ['{', '[]', '{"type":"shortcut"}', '{"type":"block_actions"}'])
      expect((await slack.send(server.url, payload)).status).toBe(200);
    for (const value of ['{', 'null', '1', '{"approval":1}', '{"approval":"x"}'])
      expect((await slack.press(server.url, card(), 'approve', { value })).status).toBe(200);
    expect((await endOf(server, id)).status).toBe('pending');
    expect(slack.calls.length).toBe(calls);
    expect(server.lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });

  test('is acknowledged and decides while Slack itself hangs', async () => {
    const server = await serving();
    const id = await propose(server, 'pay');
    await cards(1);
    slack.faults.set('chat.update', undefined);
    expect((await slack.press(server.url, card(), 'approve')).status).toBe(200);
    await expect
      .poll(async () => (await endOf(server, id)).payload?.kind, { timeout: 8_000 })
      .toBe('commit');
  });

  test('of a stale card decides nothing, and mends the card', async () => {
    const server = await serving();
    const id = await propose(server, 'pay');
    await cards(1);
    const stale = card();
    await slack.press(server.url, stale, 'approve');
    await shows('Approved by boss:ada');
    slack.messages.set(stale.ts, stale);
    await slack.press(server.url, stale, 'approve');
    await shows('Approved by boss:ada');
    expect((await endOf(server, id)).payload.counselor.principal).toBe('boss:ada');
  });

  test('two servers on one store: one card, and either decides', async () => {
    const store = new MemoryStore();
    const [left, right] = [await serving({ store }), await serving({ store })];
    await propose(left, 'pay');
    await cards(1);
    await Promise.all([
      slack.press(left.url, card(), 'approve'),
      slack.press(right.url, card(), 'approve', { user: 'U0BOB' }),
    ]);
    await shows('Approved by boss:');
    await told('is no longer pending');
    expect(slack.cards).toHaveLength(1);
  });
});

test('a reminder comes to each receiver once, and the end closes the card', async () => {
  const sink = await NoticeSink.open();
  onTestFinished(() => sink[Symbol.asyncDispose]());
  const secret = 'a-secret-of-24-characters';
  const url = { url: sink.url, allowPrivate: true };
  const clock = new HandClock();
  const server = await start({
    ...{ domains: [shop], principals: principals as never, clock },
    config: {
      worlds: { main: { domain: 'shop' }, spare: { domain: 'shop' } },
      approvals: { timeoutMs: 7_200_000 },
      notices: {
        slack: { token: TOKEN, channel: 'C0DESK', apiUrl: slack.apiUrl },
        ...{ webhooks: [{ ...url, secret }], teams: url, reminderSeconds: 3_600 },
      },
    },
  });
  const id = await propose(server, 'pay');
  await expect
    .poll(async () => (await server.store.sideList('notice/delivered', { limit: 9 })).length)
    .toBe(3);
  expect(sink.of('approval.reminder')).toEqual([]);
  clock.forward(3_600_000);
  await expect.poll(() => sink.of('approval.reminder').length, { timeout: 8_000 }).toBe(1);
  const [asked] = sink.of('approval.requested');
  const [reminder] = sink.of('approval.reminder');
  expect(reminder).toMatchObject({ pending_id: id, title: asked.title, expires: asked.expires });
  expect(reminder.id).not.toBe(asked.id);
  await expect
    .poll(() => slack.of('chat.postMessage').filter(({ thread_ts }) => thread_ts).length)
    .toBe(1);
  const ofTeams = () => sink.of('message').map(({ attachments: [one] }) => one.content);
  await expect.poll(() => ofTeams().length).toBe(2);
  expect(JSON.stringify(ofTeams()[0])).toContain('€1,240.00');
  expect(ofTeams()[0].actions).toEqual([
    { type: 'Action.OpenUrl', title: 'Decide on the page', url: `${server.url}/inbox/${id}` },
  ]);
  expect(ofTeams()[0].body.every(({ type }: any) => type === 'RichTextBlock')).toBe(true);
  expect(JSON.stringify(ofTeams()[1])).toContain('It ends soon');
  clock.forward(3_601_000);
  await propose(server, 'pay');
  await shows('xpired at');
  expect(sink.of('approval.reminder')).toHaveLength(1);
});

const isMarked = ({ type }: any): boolean => type === 'context';
