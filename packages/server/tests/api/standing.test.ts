/** Standing approvals at a server: one person asks, another approves; used, and ended. */

import { gateway, readRules } from '@assize/gate/unstable/gateway';
import { addMicros } from 'assize/internal/canon';
import type { Domain } from 'assize/internal/kernel';
import { systemClock } from 'assize/internal/oracle';
import { expect, test } from 'vitest';
import { callOperation, succeed } from '../../../../tests/support/server/calling.ts';
import { start, type TestServer } from '../../../../tests/support/server/serving.ts';

const RULES = `
id: shop
tools: { bank/pay: { class: irreversible, amounts: { cents: /cents } }, mail/send: { class: irreversible } }
rules:
  - { id: pay, ask: bank/pay }
  - { id: mail, ask: mail/send, standing: false }
standing: { uses: 10, hours: 24, amounts: { cents: 500 } }
`;
const PATH = { trajectory: 'calls' };
const TERMS = {
  agent: 'scout',
  tools: ['bank/*'],
  uses: 2,
  amounts: { cents: 100 },
  because: 'the invoices of May',
};

interface Desk {
  readonly server: TestServer;
  readonly tokens: Readonly<Record<'grace' | 'otto' | 'eve' | 'root', string>>;
  readonly terms: typeof TERMS & { readonly expires: string };
  readonly pay: (id: string, cents: number) => Promise<any>;
}

async function open(): Promise<Desk> {
  const { rules } = readRules(RULES);
  const server = await start({
    ...{ rules, domains: [gateway({ rules }) as unknown as Domain] },
    config: { tools: [], worlds: { calls: { domain: 'gateway' } } },
    principals: {
      'agent:scout': {
        kinds: ['agent'],
        grants: [{ actions: ['call', 'begin', 'report', 'session', 'stand'], scopes: ['**'] }],
      },
      'agent:other': { kinds: ['agent'], grants: [{ actions: ['call'], scopes: ['**'] }] },
      'human:grace': { kinds: ['counselor'] },
      'human:otto': { kinds: ['counselor'] },
      'auditor:eve': { kinds: ['auditor'] },
      'admin:root': { kinds: ['admin'] },
    },
  });
  const [grace, otto, eve, root] = await Promise.all(
    ['human:grace', 'human:otto', 'auditor:eve', 'admin:root'].map((name) => server.tokenFor(name)),
  );
  return {
    server,
    tokens: { grace: grace!, otto: otto!, eve: eve!, root: root! },
    terms: { ...TERMS, expires: addMicros(systemClock.now(), 3_600_000_000) },
    pay: (id, cents) =>
      succeed(server, 'calls.ask', {
        path: PATH,
        body: { id, server: 'bank', tool: 'pay', args: { cents } },
      }),
  };
}

test('one person asks, another approves, and each use is listed', async () => {
  const { server, tokens, terms, pay } = await open();
  const first = await pay('c1', 40);
  expect(first).toMatchObject({ decision: 'pending' });
  const mail = { id: 'm1', server: 'mail', tool: 'send', args: {} };
  const letter = await succeed(server, 'calls.ask', { path: PATH, body: mail });
  const judging = {
    token: tokens.grace,
    path: PATH,
    body: { ...terms, tools: ['bank/*', 'mail/send'] },
  };
  expect(await succeed(server, 'standing.judge', judging)).toMatchObject({
    judgement: { ruling: 'escalated', changes: [{ op: 'add', path: '/standing/judged' }] },
    waiting: [
      { approval: first.approval, covered: true, amounts: { cents: 40 } },
      { approval: letter.approval, covered: false, amounts: {} },
    ],
  });

  const asked = await succeed(server, 'standing.ask', {
    token: tokens.grace,
    path: PATH,
    key: 'k1',
    body: terms,
  });
  expect(asked).toMatchObject({ ruling: 'escalated', invariant_id: 'STANDING_APPROVED' });
  const again = await succeed(server, 'standing.ask', {
    token: tokens.grace,
    path: PATH,
    key: 'k1',
    body: terms,
  });
  expect(again).toEqual(asked);
  const path = { approval: asked.approval_id };
  const { approval } = await succeed(server, 'approvals.get', { token: tokens.grace, path });
  expect(approval).toMatchObject({
    requester: 'human:grace',
    deciders: ['human:otto'],
    may_decide: false,
  });
  const body = { digest: approval.digest, reason: 'checked' };
  const own = await callOperation(server, 'approvals.approve', { token: tokens.grace, path, body });
  expect([own.status, own.body.code]).toEqual([403, 'unauthorised_counselor']);
  const approved = await succeed(server, 'approvals.approve', { token: tokens.otto, path, body });
  expect(approved.ruling).toBe('committed');

  // A call that waited before is approved by itself, and uses nothing up.
  const waits = { token: tokens.otto, path: { approval: first.approval } };
  const { digest } = (await succeed(server, 'approvals.get', waits)).approval;
  expect((await succeed(server, 'approvals.approve', { ...waits, body: { digest } })).ruling).toBe(
    'committed',
  );
  expect(await pay('c1', 40)).toMatchObject({ decision: 'allowed' });

  expect(await pay('c2', 60)).toMatchObject({ decision: 'allowed' });
  expect(await pay('c3', 50)).toMatchObject({ decision: 'pending' });
  expect(await pay('c4', 40)).toMatchObject({ decision: 'allowed' });
  expect(await pay('c5', 0)).toMatchObject({ decision: 'pending' });
  const report = { path: { ...PATH, call: 'c2' }, body: { outcome: 'failed', result: 'no' } };
  await succeed(server, 'calls.report', report);
  const { standing, most } = await succeed(server, 'standing.list', {
    token: tokens.eve,
    path: PATH,
  });
  expect(most).toEqual({ uses: 10, hours: 24, amounts: { cents: 500 } });
  expect(standing).toMatchObject([
    {
      ...{ status: 'used_up', terms, used: 2, spent: { cents: 100 }, entry_id: approved.entry_id },
      ...{ asked_by: 'human:grace', approved_by: 'human:otto', approval_reason: 'checked' },
      calls: [
        {
          call: 'c2',
          tool: 'bank/pay',
          args: { cents: 60 },
          amounts: { cents: 60 },
          outcome: 'failed',
        },
        { call: 'c4', tool: 'bank/pay', args: { cents: 40 }, amounts: { cents: 40 } },
      ],
    },
  ]);
  const active = { token: tokens.eve, path: PATH, query: { active: 'true' } };
  expect((await succeed(server, 'standing.list', active)).standing).toEqual([]);
});

test('a standing approval is ended by a person, and lets nothing through then', async () => {
  const { server, tokens, terms, pay } = await open();
  for (const key of ['k1', 'k2']) {
    const asked = await succeed(server, 'standing.ask', {
      token: tokens.root,
      path: PATH,
      key,
      body: terms,
    });
    const path = { approval: asked.approval_id };
    const { digest } = (await succeed(server, 'approvals.get', { token: tokens.grace, path }))
      .approval;
    await succeed(server, 'approvals.approve', { token: tokens.grace, path, body: { digest } });
  }
  const listing = { token: tokens.eve, path: PATH, query: { limit: '1' } };
  const newest = await succeed(server, 'standing.list', listing);
  const older = await succeed(server, 'standing.list', {
    ...listing,
    query: { limit: '1', cursor: newest.next },
  });
  expect([newest.standing.length, older.standing.length, older.next]).toEqual([1, 1, undefined]);
  expect(newest.standing[0].id).not.toBe(older.standing[0].id);
  const unknown = await callOperation(server, 'standing.list', {
    ...listing,
    query: { cursor: `${newest.next}x` },
  });
  expect([unknown.status, unknown.body]).toMatchObject([
    400,
    { code: 'invalid_request', findings: [{ pointer: '/query/cursor' }] },
  ]);
  for (const [one] of [newest.standing, older.standing]) {
    const ending = { token: tokens.grace, path: { ...PATH, standing: one.id } };
    const ended = await succeed(server, 'standing.end', ending);
    expect(ended).toMatchObject({ ruling: 'committed', trajectory_id: 'calls' });
    const before = await server.contents();
    expect(await succeed(server, 'standing.end', ending)).toEqual(ended);
    expect(await succeed(server, 'standing.end', { ...ending, token: tokens.root })).toEqual(ended);
    const other = { token: tokens.grace, path: { ...PATH, standing: 'none' } };
    const missing = await callOperation(server, 'standing.end', other);
    expect([missing.status, missing.body.code]).toEqual([404, 'not_found']);
    expect(await server.contents()).toEqual(before);
  }
  expect(await pay('c1', 10)).toMatchObject({ decision: 'pending' });
  const { standing } = await succeed(server, 'standing.list', { token: tokens.eve, path: PATH });
  expect(standing).toMatchObject([
    { status: 'ended', asked_by: 'admin:root', ended: { by: 'human:grace' } },
    { status: 'ended', ended: { by: 'human:grace' } },
  ]);
});

test('a page goes on after a standing approval that ended meanwhile', async () => {
  const { server, tokens, terms } = await open();
  for (const key of ['k1', 'k2', 'k3']) {
    const asked = await succeed(server, 'standing.ask', {
      token: tokens.root,
      path: PATH,
      key,
      body: terms,
    });
    const path = { approval: asked.approval_id };
    const { digest } = (await succeed(server, 'approvals.get', { token: tokens.grace, path }))
      .approval;
    await succeed(server, 'approvals.approve', { token: tokens.grace, path, body: { digest } });
  }
  const page = (query: object) =>
    succeed(server, 'standing.list', {
      token: tokens.eve,
      path: PATH,
      query: { active: 'true', ...query },
    });
  const [, second, oldest] = (await page({})).standing;
  const { next } = await page({ limit: '2' });
  await succeed(server, 'standing.end', {
    token: tokens.grace,
    path: { ...PATH, standing: second.id },
  });
  expect((await page({ cursor: next })).standing).toEqual([oldest]);
});

test('an agent asks for itself alone, if its grant has the action', async () => {
  const { server, tokens, terms } = await open();
  const asking = { as: 'agent:scout' as const, path: PATH, key: 'k1', body: terms };
  const before = await server.contents();
  const foreign = await callOperation(server, 'standing.ask', {
    ...asking,
    body: { ...terms, agent: 'other' },
  });
  expect([foreign.status, foreign.body.code]).toEqual([403, 'forbidden']);
  expect(await server.contents()).toEqual(before);
  const asked = await succeed(server, 'standing.ask', asking);
  expect(asked).toMatchObject({ ruling: 'escalated', invariant_id: 'STANDING_APPROVED' });
  expect(await succeed(server, 'standing.ask', asking)).toEqual(asked);
  const path = { approval: asked.approval_id };
  const { approval } = await succeed(server, 'approvals.get', { token: tokens.grace, path });
  expect(approval.requester).toBe('agent:scout');
  await succeed(server, 'approvals.approve', {
    token: tokens.grace,
    path,
    body: { digest: approval.digest },
  });
  const { standing } = await succeed(server, 'standing.list', { token: tokens.eve, path: PATH });
  expect(standing).toMatchObject([{ asked_by: 'agent:scout', approved_by: 'human:grace' }]);
  // The grant of this agent has no action `stand`.
  const refused = await succeed(server, 'standing.ask', {
    ...{ as: 'agent:other' as const, path: PATH, key: 'k1' },
    body: { ...terms, agent: 'other' },
  });
  expect(refused).toMatchObject({ ruling: 'rejected' });
});

test('terms beyond the rules are refused before anything is recorded', async () => {
  const { server, tokens, terms } = await open();
  const before = await server.contents();
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ uses: 11 }, /11 uses are more than the 10 of the rules/],
    [{ amounts: { cents: 501 } }, /501 cents are more than the 500/],
    [{ amounts: { euros: 1 } }, /1 euros are more than the 0/],
    [{ tools: ['*'] }, /names its tools/],
    [{ expires: 'tomorrow' }, /not an instant/],
    [{ expires: '2020-01-01T00:00:00Z' }, /would have expired/],
    [{ agent: 'sc out' }, /agent such as ada/],
  ];
  for (const [change, why] of wrong) {
    const judging = { token: tokens.grace, path: PATH, body: { ...terms, ...change } };
    const { judgement, waiting } = await succeed(server, 'standing.judge', judging);
    expect([judgement.ruling, waiting]).toEqual(['rejected', []]);
    expect(JSON.stringify(judgement)).toMatch(why);
  }
  for (const change of [{ uses: 0 }, { uses: 1.5 }, { because: '' }, { tools: [] }, { more: 1 }]) {
    const body = { ...terms, ...change };
    const answer = await callOperation(server, 'standing.ask', {
      token: tokens.grace,
      path: PATH,
      key: 'k',
      body,
    });
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request']);
  }
  const ofAgent = await callOperation(server, 'standing.list', { as: 'agent:scout', path: PATH });
  expect([ofAgent.status, ofAgent.body.code]).toEqual([403, 'forbidden']);
  expect(await server.contents()).toEqual(before);
});
