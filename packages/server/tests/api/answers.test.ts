/** Every operation of the API once, with its answer checked against its own schema. */

import { incident } from '@assize/audit/unstable/incident';
import { budget } from '@assize/cli/unstable/domains/budget';
import { gateway, readRules, rulesDigest } from '@assize/gate/unstable/gateway';
import { addMicros } from 'assize/internal/canon';
import type { SimulationConfig } from 'assize/internal/config';
import type { Domain } from 'assize/internal/kernel';
import { systemClock } from 'assize/internal/oracle';
import { expect, test } from 'vitest';
import {
  type Calling,
  callOperation,
  pay,
  succeed,
} from '../../../../tests/support/server/calling.ts';
import { start } from '../../../../tests/support/server/serving.ts';
import { laterTill, SILENT_CENTS, till } from '../../../../tests/support/server/till.ts';
import { NoticeSink } from '../../../../tests/support/tools/notice-sink.ts';
import { RunRows } from '../../../agents/src/agents/durable/run-rows.ts';
import { OPERATIONS } from '../../src/index.ts';
import { bodyOf, endedKey, FAILED_KIND } from '../../src/notices/queue/delivery-rows.ts';
import { receiversOf } from '../../src/notices/receivers.ts';

const UNDOING = `
id: undoing
default: allow
tools: { fs/add: { undo: { tool: fs/remove, args: { path: /args/path, id: /result/id } } } }
`;
const MAIN = { trajectory: 'main' };
const SIMULATION: SimulationConfig = {
  description: 'One payment more.',
  domain: 'till',
  variants: [
    {
      name: 'one payment',
      agents: [
        {
          ...{ name: 'agent:scout', role: { name: 'clerk', params: { desk: 'new' } } },
          decide: ({ desks }) =>
            desks?.new === undefined ? { action: 'pay', args: { amount: 1 } } : 'done',
        },
      ],
    },
  ],
};
const role = (desk: string) => ({ name: 'clerk', params: { desk } });

test('each operation answers in the form of its schema', async () => {
  await using sink = await NoticeSink.open();
  const webhook = {
    url: sink.url,
    secret: 'a-secret-of-24-characters',
    allowPrivate: true,
    channels: ['nobody'],
  };
  const domains = [till, laterTill, budget, incident] as unknown as Domain[];
  const config = { notices: { webhooks: [webhook] }, simulations: { payment: SIMULATION } };
  const server = await start({ config, domains });
  const called = new Set<string>();
  const ok = (id: string, calling?: Calling): Promise<any> => {
    called.add(id);
    return succeed(server, id, calling);
  };

  expect((await ok('principals.me', { as: 'boss:ada' })).kinds).toEqual(['counselor']);
  expect((await ok('domains.list')).domains).toHaveLength(4);
  expect((await ok('domains.get', { path: { domain: 'budget' } })).name).toBe('budget');

  const made = await ok('trajectories.create', {
    body: { domain: 'till', trajectory_id: 'made', note: 'by hand' },
  });
  expect(made).toMatchObject({ trajectory_id: 'made', entries: 1, note: 'by hand' });
  expect((await ok('trajectories.list', { as: 'auditor:eve' })).trajectories).toHaveLength(5);
  expect((await ok('trajectories.list', { as: 'agent:other' })).trajectories).toMatchObject([
    { trajectory_id: 'other' },
  ]);
  expect(await ok('trajectories.get', { path: MAIN })).toMatchObject({ halted: null, pending: 0 });

  const committed = await ok('proposals.create', pay('a', 10, 'k1'));
  expect(committed.ruling).toBe('committed');
  expect(await ok('proposals.create', pay('a', 10, 'k1'))).toEqual(committed);
  expect(await ok('proposals.get', { path: { ...MAIN, key: 'k1' } })).toEqual(committed);
  const rejected = await ok('proposals.create', pay('a', 5_000, 'k2'));
  expect(rejected).toMatchObject({ ruling: 'rejected', invariant_id: 'LARGE' });
  const misfit = await ok(
    'proposals.create',
    pay('a', 1, 'k3', { body: { action: 'pay', role: role('a'), args: {} } }),
  );
  expect(misfit.findings).toMatchObject([{ pointer: expect.stringContaining('amount') }]);
  const waiting = await ok('proposals.create', pay('b', 200, 'k4'));
  expect(waiting).toMatchObject({ ruling: 'escalated', channel: 'boss' });
  const frozen = await ok('proposals.create', pay('b', 1, 'k5'));
  expect(frozen).toMatchObject({ ruling: 'frozen', by: waiting.approval_id });

  const { approvals } = await ok('approvals.list', { as: 'boss:ada', query: { mine: 'true' } });
  expect(approvals).toMatchObject([
    { id: waiting.approval_id, may_decide: true, deciders: ['boss:ada', 'boss:bob'] },
  ]);
  const { digest } = approvals[0];
  expect((await ok('approvals.get', { path: { approval: waiting.approval_id } })).status).toBe(
    'pending',
  );
  const amended = {
    path: { approval: waiting.approval_id },
    body: { digest, args: { amount: 150 } },
  };
  expect(await ok('approvals.judge', amended)).toMatchObject({
    ruling: 'committed',
    calls: [],
    cost: {},
  });
  const misfitting = { ...amended, body: { args: { amount: 'much' } } };
  expect(await ok('approvals.judge', misfitting)).toMatchObject({
    ruling: 'refused',
    code: 'invalid_amendment',
    findings: [{ pointer: '/amount' }],
  });
  const small = { action: 'pay', role: role('e'), args: { amount: 1 } };
  const several = { proposals: [{ ...small, role: role('f'), key: 'many' }] };
  const ruled = await ok('proposals.create_many', { as: 'agent:scout', path: MAIN, body: several });
  expect(ruled.results).toMatchObject([{ key: 'many', ruling: { ruling: 'committed' } }]);
  const foreseen = await ok('proposals.judge', { as: 'agent:scout', path: MAIN, body: small });
  expect(foreseen).toEqual({ ruling: 'committed', calls: [], statements: [], cost: foreseen.cost });
  const then = { ...small, role: role('b'), at: committed.entry_id, principal: 'agent:scout' };
  expect(await ok('proposals.judge', { as: 'auditor:eve', path: MAIN, body: then })).toMatchObject({
    ruling: 'committed',
    changes: [{ op: 'add', path: '/desks/b' }],
  });
  const approved = await ok('approvals.approve', {
    path: { approval: waiting.approval_id },
    body: { digest },
  });
  expect(approved.ruling).toBe('committed');
  const resolved = await ok('approvals.get', {
    as: 'agent:scout',
    path: { approval: waiting.approval_id },
  });
  expect(resolved).toEqual({ status: 'resolved', ruling: approved });
  const second = await ok('proposals.create', pay('c', 200, 'k6'));
  const reject = { path: { approval: second.approval_id }, body: { reason: 'no' } };
  expect((await ok('approvals.reject', reject)).ruling).toBe('rejected');
  const third = await ok('proposals.create', pay('d', 200, 'k7'));
  const shown = await ok('approvals.get', {
    as: 'boss:bob',
    path: { approval: third.approval_id },
  });
  const many = [{ id: third.approval_id, digest: shown.approval.digest }];
  const decided = await ok('approvals.decide', {
    body: { decision: 'approve', reason: 'fine', items: many },
  });
  expect(decided.results).toMatchObject([
    { id: third.approval_id, ruling: { ruling: 'committed' } },
  ]);
  const again = await ok('approvals.decide', {
    body: { decision: 'approve', reason: 'fine', items: many },
  });
  expect(again.results).toMatchObject([
    { id: third.approval_id, problem: { status: 409, code: 'not_pending' } },
  ]);

  expect(
    (await ok('trajectories.state', { path: MAIN, query: { pointer: '/desks/b/sum' } })).state,
  ).toBe(200);
  expect(
    (await ok('trajectories.outline', { path: MAIN, query: { pointer: '/desks/b/sum' } })).value,
  ).toBe(200);
  const slice = { role: 'clerk', params: '{"desk":"b"}' };
  expect(
    (await ok('trajectories.slice', { as: 'agent:scout', path: MAIN, query: slice })).slice,
  ).toEqual({
    desks: { b: { sum: 200, by: 'boss:ada' } },
  });

  const { entries } = await ok('entries.list', { path: MAIN });
  const found = await ok('entries.find', { query: { trajectory: 'main', limit: '2' } });
  expect(found.entries.map(({ id }: { id: string }) => id)).toEqual(
    entries
      .slice(-2)
      .map(({ id }: { id: string }) => id)
      .reverse(),
  );
  expect(entries.length).toBeGreaterThan(5);
  const entry = { entry: committed.entry_id };
  expect(await ok('entries.get', { path: entry, query: { values: 'true' } })).toMatchObject({
    seq: 1,
    kind: 'commit',
  });
  expect((await ok('entries.get', { path: { entry: 'main@0' } })).kind).toBe('root');
  expect((await ok('entries.diff', { query: { from: 'main@0', to: 'main@1' } })).patch).toEqual([
    { op: 'add', path: '/desks/a', value: { sum: 10 } },
  ]);
  expect((await ok('entries.dependents', { path: entry })).dependents).toEqual([]);
  const blast = await ok('incidents.blast', {
    as: 'auditor:eve',
    body: { entry: committed.entry_id },
  });
  expect(blast).toMatchObject({
    affected: 1,
    entries: [{ id: committed.entry_id, is_start: true, from: [] }],
  });
  const plan = { entry: committed.entry_id, because: 'it was wrong', dry_run: true };
  expect(await ok('incidents.propose', { key: 'i1', body: plan })).toEqual({
    steps: [],
    remains: [],
  });
  expect(await ok('incidents.list')).toEqual({ incidents: [] });
  expect((await ok('checkpoints.create')).size).toBeGreaterThan(0);
  expect((await ok('checkpoints.latest')).checkpoint).toMatch(/^assize\//);
  expect((await ok('entries.proof', { path: entry })).proof).toMatch(/^c2sp\.org\/tlog-proof/);
  expect(await ok('bundles.make', { query: { entry: committed.entry_id } })).toMatch(/^PK/);
  const all = { path: { framework: 'all' }, as: 'auditor:eve' } as const;
  expect(await ok('reports.make', all)).toMatchObject({
    valid: true,
    log: { checkpoint: { cosigned: [] } },
  });
  expect(await ok('reports.page', all)).toMatch(/^<!doctype html>/);
  expect((await ok('log.export', { as: 'auditor:eve' })).length).toBeGreaterThan(5);
  expect(await ok('log.verify', { as: 'auditor:eve', body: {} })).toMatchObject({ valid: true });

  const branch = await ok('branches.create', {
    path: MAIN,
    body: { at: 'main@1', trajectory_id: 'twig', note: 'try' },
  });
  expect(branch.trajectory_id).toBe('twig');
  expect((await ok('branches.list', { path: MAIN })).branches).toMatchObject([
    { trajectory_id: 'twig', note: 'try' },
  ]);

  const { writs } = await ok('writs.list', { path: MAIN });
  expect(
    writs.some(({ principal }: { principal: string | null }) => principal === 'agent:scout'),
  ).toBe(true);
  const issued = { subject: 'agent:guest', actions: ['pay'], seconds: 60, nonce: '1' };
  expect((await ok('writs.issue', { body: issued })).writ.subject).toBe('agent:guest');
  const part = {
    subject: 'agent:scout/sub',
    actions: ['pay'],
    scopes: ['role:clerk:s'],
    seconds: 60,
  };
  const sub = await ok('writs.attenuate', { path: MAIN, body: part });
  expect(await ok('proposals.create', pay('s', 1, 's1', { token: sub.token }))).toMatchObject({
    ruling: 'committed',
  });
  const child = {
    task: 'count',
    child_trajectory_id: 'child',
    subject: 'agent:scout/sub',
    actions: ['pay'],
  };
  expect((await ok('delegations.create', { path: MAIN, body: child })).trajectory_id).toBe('child');
  const { open } = await ok('delegations.list', { path: MAIN });
  expect(open).toMatchObject([{ child: 'child', task: 'count' }]);
  const conclusion = {
    path: { ...MAIN, delegation: open[0].id },
    body: { final_answer: { sum: 1 } },
  };
  expect((await ok('delegations.conclude', conclusion)).seq).toBeGreaterThan(0);

  const memory = { ...MAIN, space: 'front' };
  const said = { verb: 'assert', subject: 'ada', predicate: 'phone', object: '1' };
  expect((await ok('memory.state', { path: memory, key: 'm1', body: said })).ruling).toBe(
    'committed',
  );
  const recalled = await ok('memory.recall', {
    as: 'agent:scout',
    path: memory,
    body: { subject: 'ada' },
  });
  expect(recalled.facts).toMatchObject([{ object: '1' }]);
  expect((await ok('memory.recall', { path: memory, body: { text: 'ada' } })).facts).toHaveLength(
    1,
  );
  expect((await ok('memory.history', { path: memory })).facts).toHaveLength(1);
  const fact = { ...memory, fact: recalled.facts[0].fact_id };
  expect((await ok('memory.explain', { path: fact })).fact.object).toBe('1');
  const spaces = { memory_spaces: ['front'] };
  expect(await ok('trajectories.get', { as: 'auditor:eve', path: MAIN })).toMatchObject(spaces);
  expect(await ok('trajectories.get', { as: 'agent:scout', path: MAIN })).not.toHaveProperty(
    'memory_spaces',
  );
  expect(
    await ok('trajectories.get', { as: 'auditor:eve', path: { trajectory: 'cash' } }),
  ).not.toMatchObject(spaces);
  const phone = { name: 'phone', cardinality: 'single-valued', strategy: 'lww' };
  expect((await ok('domains.get', { path: { domain: 'till' } })).memory.predicates).toContainEqual(
    phone,
  );
  await ok('memory.state', { path: memory, key: 'm2', body: { ...said, object: '2' } });
  await ok('memory.state', { path: memory, key: 'm3', body: { ...said, subject: 'bob' } });
  const one = await ok('memory.keys', { path: memory, query: { limit: '1' } });
  expect(one.keys).toEqual([{ subject: 'ada', predicate: 'phone', versions: 3, lost: 1 }]);
  const bob = { keys: [{ subject: 'bob', predicate: 'phone', versions: 1, lost: 0 }] };
  expect(await ok('memory.keys', { path: memory, query: { cursor: one.next } })).toEqual(bob);
  expect(await ok('memory.keys', { path: memory, query: { text: 'BO' } })).toEqual(bob);
  const { facts } = await ok('memory.history', { path: memory, query: { subject: 'ada' } });
  for (const { fact_id, system_time_start: since } of facts) {
    const explained = await ok('memory.explain', {
      path: { ...memory, fact: fact_id },
      query: { since },
    });
    expect(explained.fact).toMatchObject({ fact_id, system_time_start: since });
    expect(explained.contradictions).toHaveLength(1);
  }

  const chat = { ...MAIN };
  const messages = [{ role: 'user', content: 'My number is 7.', at: '2026-10-01' }];
  const seven = { message: 1, subject: 'eva', predicate: 'phone', object: '7' };
  const noted = { space: 'front', messages, facts: [seven], metadata: { channel: 'desk' } };
  const told = await ok('chat.remember', { path: chat, key: 'c1', body: noted });
  expect(told).toMatchObject({ added: [{ object: '7' }], skipped: [] });
  expect(await ok('chat.remember', { path: chat, key: 'c1', body: noted })).toMatchObject({
    duplicates: [{ object: '7' }],
  });
  const meant = { space: 'front', alias: 'Eva N.', name: 'eva' };
  expect((await ok('chat.alias', { path: chat, body: meant })).ruling).toBe('committed');
  const names = [{ name: 'eva', all: ['eva', 'Eva N.'] }];
  expect(
    await ok('chat.aliases', { as: 'auditor:eve', path: chat, query: { space: 'front' } }),
  ).toEqual({
    names,
    predicates: [],
  });
  const about = {
    question: 'phone of Eva N.',
    spaces: ['front'],
    filter: { metadata: { channel: 'desk' } },
    budget: 300,
  };
  const answered = await ok('chat.recall', { as: 'agent:scout', path: chat, body: about });
  expect(answered).toMatchObject({
    facts: [{ object: '7', sources: [{ metadata: { channel: 'desk' } }] }],
  });
  expect(answered.context).toContain('"object":"7"');
  expect(
    (await ok('chat.recall', { as: 'auditor:eve', path: chat, body: { spaces: ['front'] } })).facts,
  ).toHaveLength(3);
  const hidden = await callOperation(server, 'chat.recall', {
    as: 'agent:scout',
    path: chat,
    body: { spaces: ['back'] },
  });
  expect(hidden).toMatchObject({
    status: 403,
    body: { code: 'forbidden', detail: expect.stringContaining('space') },
  });
  const unread = await callOperation(server, 'chat.remember', {
    path: chat,
    key: 'c2',
    body: { space: 'front', messages },
  });
  expect(unread).toMatchObject({
    status: 400,
    body: { code: 'bad_argument', detail: expect.stringContaining('no model') },
  });
  const wrong = { space: 'front', fact: answered.facts[0].id };
  expect(await ok('chat.repair', { path: chat, body: wrong })).toMatchObject({
    is_believed: true,
    withdrawn: [{ object: '7' }],
  });
  expect(
    (await ok('chat.repair', { path: chat, body: { ...wrong, apply: true } })).ruling.ruling,
  ).toBe('committed');
  expect((await ok('chat.recall', { as: 'agent:scout', path: chat, body: about })).facts).toEqual(
    [],
  );

  const wire = { action: 'wire', role: role('w'), args: { cents: SILENT_CENTS } };
  await ok('proposals.create', { ...pay('w', 1, 'w1'), body: wire });
  const { transactions } = await ok('effects.list', {
    as: 'admin:ann',
    query: { all: 'true', needs_human: 'true' },
  });
  expect(transactions).toMatchObject([
    {
      ...{ trajectory_id: 'main', principal: 'agent:scout', at: expect.any(String) },
      effects: [{ title: `bank.pay: cents ${SILENT_CENTS}`, failures: 0 }],
      may_settle: true,
    },
  ]);
  const seen = { as: 'boss:ada', query: { needs_human: 'true' } } as const;
  expect((await ok('effects.list', seen)).transactions).toMatchObject([{ may_settle: false }]);
  const { epoch, effects } = transactions[0];
  expect(await ok('effects.get', { path: { epoch: `${epoch}` } })).toMatchObject({
    epoch,
    claims: [{ access: 'write', scope: 'bank:**', frontier: epoch }],
    effects: [
      {
        input: { value: { cents: SILENT_CENTS } },
        claims: [{ access: 'write', scope: 'bank:**' }],
      },
    ],
  });
  expect((await ok('effects.recover')).unresolved).toMatchObject([{ epoch, tool: 'bank.pay' }]);
  const doubt = { epoch: `${epoch}`, n: `${effects[0].n}` };
  const decision = { as: 'applied', evidence: 'the statement of May' };
  const { version } = transactions[0];
  const settle = { as: 'admin:ann', path: doubt } as const;
  expect(
    await callOperation(server, 'effects.resolve', {
      ...settle,
      body: { ...decision, version: version - 1 },
    }),
  ).toMatchObject({ status: 409, body: { code: 'wrong_state' } });
  await ok('effects.resolve', { ...settle, body: { ...decision, version } });
  expect((await ok('effects.list', { query: { needs_human: 'true' } })).transactions).toEqual([]);

  const rules = { name: 'strict', rules: [] };
  const tested = await callOperation(server, 'backtests.run', {
    body: { trajectories: ['main'], rules },
  });
  expect(tested.status, tested.text).toBeLessThan(500);
  const later = { trajectories: ['main'], domain_hash: laterTill.hash };
  expect((await ok('backtests.run', { body: later })).reports).toHaveLength(1);

  const mined = await ok('mining.run', {
    body: { trajectories: ['main'], min_support: 1, chance: 0.5 },
  });
  expect(mined).toMatchObject({ runs: 1, good: 1, erased: 0 });

  const [{ name: simulation }] = (await ok('simulations.list')).simulations;
  const simulated = await ok('simulations.run', { path: MAIN, body: { simulation, samples: 2 } });
  expect(simulated.variants).toMatchObject([
    { name: 'one payment', outcomes: { done: 2 }, medians: { turns: 2 } },
  ]);

  const revoked = await ok('writs.revoke', {
    path: { ...MAIN, writ: 'agent:scout' },
    body: { reason: 'left' },
  });
  expect(revoked.revocations).toMatchObject([{ ruling: { ruling: 'committed' } }]);
  expect(await ok('proposals.create', pay('a', 1, 'k9'))).toMatchObject({ ruling: 'rejected' });

  const spare = { trajectory: 'spare' };
  expect(
    (await ok('trajectories.upgrade', { path: spare, body: { reason: 'try', dry_run: true } }))
      .dry_run,
  ).toBe(true);
  expect(
    await ok('trajectories.upgrade', { path: spare, body: { reason: 'newer' } }),
  ).toMatchObject({
    dry_run: false,
  });
  expect(
    (await ok('trajectories.halt', { path: spare, body: { reason: 'stop' } })).ruling.ruling,
  ).toBe('committed');
  expect(await ok('trajectories.get', { path: spare })).toMatchObject({
    halted: { principal: 'admin:ann' },
  });
  expect(
    (await ok('trajectories.resume', { path: spare, body: { reason: 'go on' } })).ruling.ruling,
  ).toBe('committed');

  const terms = { trajectory_id: 'spare', agents: 'clerks', tenant: 'north', turns_max: 7 };
  const begun = await ok('runs.begin', { body: terms });
  expect(begun).toMatchObject({ ...terms, status: 'ready', turns: 0, failures: 0, versions: [] });
  expect(await ok('runs.begin', { body: terms })).toEqual(begun);
  const absent = await callOperation(server, 'runs.begin', {
    body: { ...terms, trajectory_id: 'nowhere' },
  });
  expect(absent.body.code).toBe('not_found');
  const other = await callOperation(server, 'runs.begin', { body: { ...terms, agents: 'others' } });
  expect(other).toMatchObject({
    status: 409,
    body: { code: 'wrong_state', detail: expect.stringContaining('has a run') },
  });
  expect(await ok('runs.get', { path: spare })).toEqual(begun);
  expect(await ok('runs.list')).toEqual({ runs: [begun] });
  expect(await ok('runs.list', { query: { cursor: 'spare' } })).toEqual({ runs: [] });
  expect(await ok('runs.cancel', { path: spare })).toMatchObject({ status: 'cancelled' });
  const early = await callOperation(server, 'runs.retry', { path: spare });
  expect(early).toMatchObject({
    status: 409,
    body: { code: 'wrong_state', detail: expect.stringContaining('only a failed') },
  });
  const missing = await callOperation(server, 'runs.get', { path: { trajectory: 'main' } });
  expect(missing).toMatchObject({
    status: 404,
    body: { code: 'not_found', detail: expect.stringContaining('durable run') },
  });
  const {
    runs: [over],
  } = await ok('runs.list', { query: { ended: 'true', limit: '1' } });
  expect(over).toMatchObject({ trajectory_id: 'spare', status: 'cancelled' });
  const rows = new RunRows(server.service.store, systemClock);
  const cancelled = (await rows.find('spare'))!;
  await rows.replace(cancelled, { ...cancelled.run, status: 'failed', failures: 8 });
  expect(await ok('runs.retry', { path: spare })).toMatchObject({ status: 'ready', failures: 0 });

  const token = await ok('tokens.create', {
    body: { principal: 'agent:scout', days: 1, note: 'spare' },
  });
  expect((await ok('tokens.list')).tokens.map(({ id }: { id: string }) => id)).toContain(token.id);
  expect(await ok('tokens.revoke', { path: { token: token.id } })).toEqual({ revoked: true });

  const cookie = await server.cookieFor('boss:ada');
  const { sessions } = await ok('sessions.list', { query: { principal: 'boss:ada' } });
  expect(sessions).toMatchObject([{ principal: 'boss:ada', method: 'session' }]);
  expect(await ok('sessions.end', { path: { session: sessions[0].id } })).toEqual({ ended: true });
  expect((await server.ask('GET', '/v1/me', { headers: { cookie } })).status).toBe(401);
  const receiver = receiversOf([webhook], new Map())[0]!.id;
  const position = await server.service.store.logIndex(waiting.approval_id);
  const at = '2026-11-01T00:00:00.000000Z';
  const error = { code: 'receiver_refused', detail: 'The webhook answered with the status 500.' };
  const ended = {
    entry: waiting.approval_id,
    type: 'approval.requested',
    attempts: 20,
    at,
    receiver,
    shown: 'a',
  } as const;
  const failed = {
    kind: FAILED_KIND,
    key: endedKey(at, position as number, receiver),
    expected: null,
  };
  await server.service.store.sidePut([{ ...failed, body: bodyOf({ ...ended, error }) }]);
  const [notice] = (await ok('notices.failed')).notices;
  expect(notice).toMatchObject({
    receiver,
    entry_id: waiting.approval_id,
    attempts: 20,
    error,
    configured: true,
  });
  expect(await ok('notices.retry', { body: { receiver, id: notice.id } })).toEqual({ retried: 1 });
  await expect
    .poll(() => sink.received.map(({ id }) => id), { timeout: 10_000 })
    .toEqual([notice.id]);
  expect(await ok('notices.failed')).toEqual({ notices: [] });
  expect(await ok('notices.retry', { body: { receiver } })).toEqual({ retried: 0 });
  for (const body of [{ receiver, id: notice.id }, { receiver: 'webhook:none' }])
    expect((await callOperation(server, 'notices.retry', { body })).body.code).toBe('not_found');

  const grants = [{ actions: ['call', 'session'] }];
  const hooked = await start({
    config: { tools: [], worlds: { calls: { domain: 'gateway' } } },
    domains: [gateway() as unknown as Domain],
    principals: { 'agent:scout': { kinds: ['agent'], grants } },
  });
  for (const id of ['hooks.claude_code', 'hooks.codex']) called.add(id);
  const event = { hook_event_name: 'SessionEnd', session_id: 's1', cwd: '/repo' };
  const hook = {
    token: await hooked.tokenFor('agent:scout'),
    path: { trajectory: 'calls' },
    body: event,
  };
  expect(await succeed(hooked, 'hooks.claude_code', hook)).toEqual({});
  expect(await succeed(hooked, 'hooks.codex', hook)).toEqual({});
  const undoing = readRules(UNDOING).rules;
  const gated = await start({
    ...{ rules: undoing, domains: [gateway({ rules: undoing }) as unknown as Domain] },
    config: { tools: [], worlds: { calls: { domain: 'gateway' } } },
    principals: {
      'agent:scout': {
        kinds: ['agent'],
        grants: [{ actions: ['call', 'report', 'session'], scopes: ['**'] }],
      },
      'manager:grace': { kinds: ['counselor'] },
    },
  });
  const propose = (action: string, key: string, args: object) => {
    const body = { action, role: { name: 'agent', params: { agent: 'scout' } }, args };
    return succeed(gated, 'proposals.create', { path: { trajectory: 'calls' }, key, body });
  };
  await propose('call', 'c1', {
    id: 'c1',
    server: 'fs',
    tool: 'add',
    args: { path: '/a' },
    once: true,
  });
  await propose('report', 'report-done-c1', { call: 'c1', outcome: 'done', result: { id: 7 } });
  expect(await succeed(gated, 'calls.undo', { path: { trajectory: 'calls', call: 'c1' } })).toEqual(
    {
      server: 'fs',
      tool: 'remove',
      args: { path: '/a', id: 7 },
    },
  );
  called.add('calls.undo');
  const ofSession = { path: { trajectory: 'calls', session: 's1' } };
  await succeed(gated, 'calls.ask', {
    path: { trajectory: 'calls' },
    body: { id: 'c0', session: 's1', server: 'fs', tool: 'add', args: { path: '/b' } },
  });
  const done = { outcome: 'done', result: { value: { id: 8 } } };
  await succeed(gated, 'calls.report', { path: { trajectory: 'calls', call: 'c0' }, body: done });
  expect(await succeed(gated, 'calls.undo_session', ofSession)).toEqual({
    calls: [{ call: 'c0', server: 'fs', tool: 'remove', args: { path: '/b', id: 8 } }],
    left: [],
  });
  expect(await succeed(gated, 'calls.fail_session', { ...ofSession, body: {} })).toEqual({
    failed: true,
  });
  expect(await succeed(gated, 'calls.end_session', { ...ofSession, body: {} })).toEqual({
    ended: true,
  });
  called.add('calls.undo_session').add('calls.fail_session').add('calls.end_session');
  await propose('call', 'c2', { id: 'c2', server: 'fs', tool: 'add', args: {}, once: true });
  const ofGrace = await gated.tokenFor('manager:grace');
  const [waits] = (
    await succeed(gated, 'calls.open', { token: ofGrace, path: { trajectory: 'calls' } })
  ).calls;
  expect(waits).toMatchObject({ call: 'c2', tool: 'fs/add', in_doubt: false });
  called.add('calls.open');
  await propose('report', 'report-unknown-c2', { call: 'c2', outcome: 'unknown' });
  const settling = {
    path: { trajectory: 'calls', call: 'c2' },
    body: { outcome: 'failed', evidence: 'not made' },
  };
  expect(
    (await succeed(gated, 'calls.settle', { token: ofGrace, ...settling })).ruling.ruling,
  ).toBe('committed');
  const asking = { id: 'c3', server: 'fs', tool: 'add', args: { path: '/b' }, session: 'run' };
  const calls = { path: { trajectory: 'calls' }, body: asking };
  expect(await succeed(gated, 'calls.ask', calls)).toMatchObject({
    decision: 'allowed',
    call: 'c3',
  });
  expect(await succeed(gated, 'calls.ask', calls)).toMatchObject({ decision: 'begun', call: 'c3' });
  called.add('calls.ask');
  const c3 = { path: { trajectory: 'calls', call: 'c3' } };
  expect(await succeed(gated, 'calls.outcome', c3)).toEqual({});
  const reporting = { ...c3, body: { outcome: 'done', result: { value: 1 } } };
  expect(await succeed(gated, 'calls.report', reporting)).toEqual({ recorded: true });
  expect(await succeed(gated, 'calls.report', reporting)).toEqual({ recorded: false });
  called.add('calls.report');
  expect(await succeed(gated, 'calls.outcome', c3)).toEqual({
    outcome: 'done',
    result: { value: 1 },
  });
  called.add('calls.outcome');
  called.add('calls.settle');
  const asked = { path: { trajectory: 'calls', server: 'fs' }, query: { agent: 'scout' } };
  expect(await succeed(gated, 'servers.get', asked)).toEqual({
    ...{ tools: [], calls: [], files: [] },
    lists: { resources: true, prompts: true },
  });
  called.add('servers.get');
  const standTerms = { agent: 'scout', tools: ['fs/add'], uses: 2, amounts: {}, because: 'many' };
  const standing = { ...standTerms, expires: addMicros(systemClock.now(), 3_600_000_000) };
  const inCalls = { token: ofGrace, path: { trajectory: 'calls' } };
  const likely = await succeed(gated, 'standing.judge', { ...inCalls, body: standing });
  expect(likely).toMatchObject({ judgement: { ruling: 'escalated' }, waiting: [] });
  const stands = await succeed(gated, 'standing.ask', { ...inCalls, key: 's1', body: standing });
  expect(stands).toMatchObject({ ruling: 'escalated', invariant_id: 'STANDING_APPROVED' });
  expect((await succeed(gated, 'standing.list', inCalls)).standing).toEqual([]);
  const none = { token: ofGrace, path: { trajectory: 'calls', standing: 'none' } };
  expect(await callOperation(gated, 'standing.end', none)).toMatchObject({
    status: 404,
    body: { code: 'not_found' },
  });
  const readers = { token: ofGrace };
  expect((await succeed(gated, 'rules.list', readers)).worlds).toMatchObject([
    { trajectory_id: 'calls' },
  ]);
  const inForce = await succeed(gated, 'rules.list', {
    ...readers,
    query: { trajectory: 'calls' },
  });
  expect(rulesDigest(readRules(inForce.worlds[0].text).rules)).toBe(rulesDigest(undoing));
  expect(
    await succeed(gated, 'rules.report', { ...readers, path: { trajectory: 'calls' } }),
  ).toMatchObject({ tried: 0, changes: [] });
  called.add('rules.list').add('rules.report');
  for (const id of ['standing.judge', 'standing.ask', 'standing.list', 'standing.end'])
    called.add(id);

  const changing = { path: { agent: 'agent:other' }, body: { reason: 'a try' } };
  for (const does of ['pause', 'resume', 'stop']) {
    const changed = await succeed(server, `agents.${does}`, changing);
    expect(changed.ruling.ruling).toBe('committed');
    called.add(`agents.${does}`);
  }
  expect((await succeed(server, 'agents.list')).agents).toContainEqual(
    expect.objectContaining({ name: 'agent:other', is: 'stopped' }),
  );
  called.add('agents.list');

  expect(OPERATIONS.map(({ id }) => id).filter((id) => !called.has(id))).toEqual([]);
  expect((await succeed(server, 'log.verify', { body: {} })).valid).toBe(true);
  expect([...server.undocumented, ...gated.undocumented]).toEqual([]);
  expect(server.lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
});
