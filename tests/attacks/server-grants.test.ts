/** Attacks 52 to 56 of docs/design/threats.md: on the grants of agents, at a running server. */

import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import type { PrincipalConfig } from '#config';
import { gateway } from '#domains/gateway';
import type { Domain } from '#kernel';
import { type Calling, callOperation, pay, succeed } from '../support/server/calling.ts';
import { problemFaults } from '../support/server/refusals.ts';
import {
  PRINCIPALS,
  type PrincipalName,
  start,
  type TestServer,
} from '../support/server/serving.ts';

const MAIN = { trajectory: 'main' };
const GRANT = {
  actions: ['tip', 'assize.delegate'],
  scopes: ['role:clerk:**'],
  budget: { cents: 100 },
  maxDepth: 2,
};

const granted = (...grants: NonNullable<PrincipalConfig['grants']>) =>
  ({ ...PRINCIPALS, 'agent:scout': { kinds: ['agent'], grants } }) satisfies Record<
    string,
    PrincipalConfig
  >;

const tip = (amount: number, key: string, more: Partial<Calling> = {}): Calling => ({
  ...pay('a', amount, key, more),
  body: { action: 'tip', role: { name: 'clerk', params: { desk: 'a' } }, args: { amount } },
});

async function rulingOf(server: TestServer, calling: Calling): Promise<string> {
  const { body } = await callOperation(server, 'proposals.create', calling);
  return body?.ruling ?? body?.code;
}

async function expectForbidden(server: TestServer, id: string, calling: Calling): Promise<void> {
  const before = await server.contents();
  const { headers, ...rest } = await callOperation(server, id, calling);
  const answer = { ...rest, type: headers.get('content-type') ?? '' };
  expect(problemFaults(answer, 403, 'forbidden'), rest.text).toEqual([]);
  expect(await server.contents()).toEqual(before);
}

test('attack 52: an agent delegates to itself for a fresh grant: none', async () => {
  // One grant for all trajectories, and one that names a trajectory that does not exist yet.
  const principals = granted(
    { ...GRANT, actions: ['pay', ...GRANT.actions], trajectories: ['*'] },
    { ...GRANT, actions: ['pay', ...GRANT.actions], trajectories: ['named'] },
  );
  const server = await start({ principals });
  for (const child of ['child', 'named']) {
    const terms = {
      subject: 'agent:scout',
      actions: ['tip'],
      scopes: ['role:clerk:a'],
      budget: { cents: 10 },
    };
    const body = { ...terms, task: 'escape', child_trajectory_id: child };
    await succeed(server, 'delegations.create', { path: MAIN, body });
    const there = { path: { trajectory: child } };
    expect(await rulingOf(server, tip(11, `${child}-much`, there))).toBe('rejected');
    expect(await rulingOf(server, pay('a', 1, `${child}-pay`, there))).toBe('rejected');
    expect(await rulingOf(server, tip(10, `${child}-all`, there))).toBe('committed');
    expect(await rulingOf(server, tip(1, `${child}-more`, there))).toBe('rejected');
    const part = { subject: 'agent:scout/sub', actions: ['pay'], seconds: 60 };
    await expectForbidden(server, 'writs.attenuate', { ...there, body: part });
    await expectForbidden(server, 'delegations.create', {
      ...there,
      body: { ...body, child_trajectory_id: 'deep' },
    });
  }
  // The budgets of both children are reserved in the parent.
  expect(await rulingOf(server, tip(81, 'main'))).toBe('rejected');
  expect(await rulingOf(server, tip(80, 'main-80'))).toBe('committed');
});

test('a delegation’s subject acts in its trajectory alone, by its token', async () => {
  const principals = granted({ ...GRANT, trajectories: ['main'] });
  const server = await start({ principals });
  const terms = {
    actions: ['tip'],
    scopes: ['role:clerk:a'],
    budget: { cents: 10 },
    task: 'count',
  };
  const sub = { ...terms, subject: 'agent:scout/sub', child_trajectory_id: 'by-token' };
  const { token } = await succeed(server, 'delegations.create', { path: MAIN, body: sub });
  const byToken = { token, path: { trajectory: 'by-token' } };
  expect(await rulingOf(server, tip(10, 'a', byToken))).toBe('committed');
  expect(await rulingOf(server, tip(1, 'b', byToken))).toBe('rejected');
  expect(await rulingOf(server, tip(1, 'c', { token, path: MAIN }))).toBe('not_found');
  const known = { ...terms, subject: 'agent:other', child_trajectory_id: 'by-name' };
  const made = await succeed(server, 'delegations.create', { path: MAIN, body: known });
  expect(made).not.toHaveProperty('token');
  const byName = { as: 'agent:other' as PrincipalName, path: { trajectory: 'by-name' } };
  expect(await rulingOf(server, tip(10, 'd', byName))).toBe('committed');
  expect(await rulingOf(server, tip(10, 'e', { path: { trajectory: 'by-name' } }))).toBe(
    'not_found',
  );
  const { trajectories } = await succeed(server, 'trajectories.list', { as: 'agent:other' });
  expect(trajectories.map((one: { trajectory_id: string }) => one.trajectory_id)).toEqual([
    'by-name',
    'other',
  ]);
});

test('attack 53: a grant is edited or removed: no fresh budget, no part left', async () => {
  const store = new MemoryStore();
  const before = await start({ store, principals: granted({ ...GRANT, trajectories: ['main'] }) });
  const part = {
    subject: 'agent:scout/sub',
    actions: ['tip'],
    budget: { cents: 50 },
    seconds: 600,
  };
  const { token } = await succeed(before, 'writs.attenuate', { path: MAIN, body: part });
  const child = {
    ...part,
    seconds: 600,
    task: 'count',
    child_trajectory_id: 'child',
    budget: { cents: 10 },
  };
  const { token: far } = await succeed(before, 'delegations.create', { path: MAIN, body: child });
  expect(await rulingOf(before, tip(60, 'a'))).toBe('committed');
  expect(await rulingOf(before, tip(5, 'b', { token }))).toBe('committed');
  await before.stop();
  // Another action and a longer list of trajectories: the agent has 100 - 60 - 5 - 10 left.
  const edited = granted({
    ...GRANT,
    actions: [...GRANT.actions, 'pay'],
    trajectories: ['main', 'spare'],
  });
  const after = await start({ store, principals: edited });
  expect(await rulingOf(after, tip(1, 'c', { token }))).toBe('rejected');
  expect(await rulingOf(after, tip(1, 'd', { token: far, path: { trajectory: 'child' } }))).toBe(
    'rejected',
  );
  expect(await rulingOf(after, tip(26, 'e'))).toBe('rejected');
  expect(await rulingOf(after, tip(25, 'f'))).toBe('committed');
  await after.stop();
  // The agent is removed. Its revocation by name still finds every grant that it had.
  const { 'agent:scout': _, ...rest } = PRINCIPALS;
  const removed = await start({ store, principals: rest });
  expect(await rulingOf(removed, tip(1, 'g', { token }))).toBe('rejected');
  const revocation = { path: { ...MAIN, writ: 'agent:scout' }, body: { reason: 'left' } };
  expect((await succeed(removed, 'writs.revoke', revocation)).revocations).toHaveLength(2);
});

test('attack 54: a sub-agent with the name of another principal: 403', async () => {
  const server = await start({ principals: granted({ ...GRANT, trajectories: ['main'] }) });
  const names = [
    ...[
      'agent:other',
      'agent:other/sub',
      'agent:scout',
      'agent:scout/',
      'agent:scoutx',
      'agent:new',
      'boss:ada',
    ],
    ...[
      'assize:server',
      'agent:scout/a/b',
      'agent:scout/a b',
      'agent:sc\u043eut/sub',
      'agent:scout\uff0fsub',
    ],
  ];
  for (const subject of names) {
    const part = { subject, actions: ['tip'], seconds: 60 };
    await expectForbidden(server, 'writs.attenuate', { path: MAIN, body: part });
    if (['agent:other', 'agent:scout'].includes(subject)) continue;
    const child = { subject, actions: ['tip'], task: 'x', child_trajectory_id: 'child' };
    await expectForbidden(server, 'delegations.create', { path: MAIN, body: child });
  }
});

test('attack 55: a counselor edits its grant away, and approves: refused', async () => {
  const store = new MemoryStore();
  const both = {
    kinds: ['agent', 'counselor'],
    grants: [{ actions: ['pay'], trajectories: ['main'], maxDepth: 1 }],
  };
  const principals = { ...PRINCIPALS, 'boss:cat': both as PrincipalConfig };
  const before = await start({ store, principals });
  const own = (before.tokens as Record<string, string>)['boss:cat'] as string;
  const part = { subject: 'boss:cat/sub', actions: ['pay'], seconds: 600 };
  const { token } = await succeed(before, 'writs.attenuate', {
    token: own,
    path: MAIN,
    body: part,
  });
  const { approval_id: id } = await succeed(
    before,
    'proposals.create',
    pay('a', 200, 'k', { token }),
  );
  await before.stop();
  const after = await start({
    store,
    principals: { ...PRINCIPALS, 'boss:cat': { kinds: ['counselor'] } },
  });
  const shown = await succeed(after, 'approvals.get', { as: 'boss:ada', path: { approval: id } });
  expect(shown.approval.deciders).not.toContain('boss:cat');
  const decision = {
    token: (after.tokens as Record<string, string>)['boss:cat'] as string,
    path: { approval: id },
    body: { digest: shown.approval.digest },
  };
  const { status, body } = await callOperation(after, 'approvals.approve', decision);
  expect({ status, code: body.code }).toEqual({ status: 403, code: 'unauthorised_counselor' });
});

test('attack 56: a tool call in the role of another agent: rejected', async () => {
  const grants = [{ actions: ['call', 'stand', 'report'], trajectories: ['tools'] }];
  const principals = { 'agent:scout': { kinds: ['agent'], grants } } satisfies Record<
    string,
    PrincipalConfig
  >;
  const domains = [gateway() as unknown as Domain];
  const server = await start({
    ...{ principals, domains },
    config: { tools: [], worlds: { tools: { domain: 'gateway' } } },
  });
  const called = (agent: string, key: string): Calling => ({
    ...{ key, path: { trajectory: 'tools' } },
    body: {
      action: 'call',
      role: { name: 'agent', params: { agent } },
      args: { server: 'files', tool: 'read', args: {} },
    },
  });
  expect(await rulingOf(server, called('other', 'a'))).toBe('rejected');
  expect(await rulingOf(server, called('scout', 'b'))).toBe('escalated');
});
