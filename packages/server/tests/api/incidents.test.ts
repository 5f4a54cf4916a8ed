/** The response to an incident: proposed by an administrator, carried out by the server. */

import { incident } from '@assize/audit/unstable/incident';
import { MemoryStore } from '@assize/testing/memory';
import type { Domain } from 'assize/internal/kernel';
import { Assize } from 'assize/internal/runtime';
import { expect, test } from 'vitest';
import {
  type Calling,
  callOperation,
  pay,
  succeed,
} from '../../../../tests/support/server/calling.ts';
import {
  PRINCIPALS,
  ROOT,
  start,
  type TestServer,
} from '../../../../tests/support/server/serving.ts';
import { till } from '../../../../tests/support/server/till.ts';

const principals = { ...PRINCIPALS, 'human:ida': { kinds: ['counselor'] as const } };
const worlds = { main: { domain: 'till' }, spare: { domain: 'till' } };
const domains = [till, incident] as unknown as Domain[];
const serve = (store = new MemoryStore()): Promise<TestServer> =>
  start({ domains, principals: principals as never, config: { worlds }, store });

const LEAKED = { principal: 'agent:scout', because: 'the token leaked' };
const as = (name: string, server: TestServer): Pick<Calling, 'token'> => ({
  token: (server.tokens as any)[name],
});

async function proposed(server: TestServer): Promise<any> {
  await succeed(server, 'proposals.create', pay('a', 10, 'k1'));
  const found = await succeed(server, 'incidents.propose', { key: 'i1', body: LEAKED });
  expect(found.steps).toMatchObject([{ kind: 'revoke', trajectory: 'main' }]);
  return found;
}

async function approve(server: TestServer, approval: string): Promise<void> {
  const { digest } = (
    await succeed(server, 'approvals.get', { path: { approval }, ...as('human:ida', server) })
  ).approval;
  const ruling = await succeed(server, 'approvals.approve', {
    ...{ path: { approval }, body: { digest } },
    ...as('human:ida', server),
  });
  expect(ruling.ruling).toBe('committed');
}

async function closed(server: TestServer): Promise<any> {
  const end = Date.now() + 15_000;
  while (Date.now() < end) {
    const { incidents } = await succeed(server, 'incidents.list');
    if (incidents[0]?.closed_at !== undefined) return incidents[0];
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`the incident is not closed: ${server.lines.join('\n')}`);
}

test('the server revokes the grant of the bad agent after the approval', async () => {
  const server = await serve();
  const { incident: id, approval } = await proposed(server);
  expect((await succeed(server, 'incidents.propose', { key: 'i1', body: LEAKED })).approval).toBe(
    approval,
  );
  expect((await succeed(server, 'proposals.create', pay('a', 10, 'k2'))).ruling).toBe('committed');
  expect((await succeed(server, 'incidents.list')).incidents).toEqual([]);
  await approve(server, approval);
  expect(await closed(server)).toMatchObject({
    ...{ id, opened_by: 'admin:ann', approved_by: 'human:ida' },
    steps: [{ kind: 'revoke', outcome: 'done' }],
  });
  const refused = await callOperation(server, 'proposals.create', pay('a', 10, 'k3'));
  expect(refused.text).toMatch(/revoked/);
});

test('the same plan under another key is the incident that is open', async () => {
  const server = await serve();
  const first = await proposed(server);
  expect(first.status).toBe('proposed');
  const again = await callOperation(server, 'incidents.propose', {
    key: 'i2',
    body: { ...LEAKED, because: 'again' },
  });
  const { incident: id, approval } = first;
  expect(again).toMatchObject({ status: 200, body: { incident: id, status: 'waiting', approval } });
  const { approvals } = await succeed(server, 'approvals.list', {
    query: { action: 'open' },
    ...as('human:ida', server),
  });
  expect(approvals).toHaveLength(1);
  await approve(server, approval);
  await closed(server);
  const done = await callOperation(server, 'incidents.propose', { key: 'i3', body: LEAKED });
  expect(done).toMatchObject({
    status: 409,
    body: { code: 'wrong_state', detail: expect.stringContaining('The response has no step that') },
  });
});

test('a server that starts after the approval carries the response out', async () => {
  const store = new MemoryStore();
  const first = await serve(store);
  const { approval } = await proposed(first);
  await first.stop();
  const assize = new Assize({ store, domains, anchors: [ROOT.publicKey] });
  const trajectory = await assize.open('incidents');
  await trajectory.approvals.approve(approval, { principal: 'human:ida', method: 'test' });
  await assize.close();
  expect((await closed(await serve(store))).steps).toMatchObject([
    { kind: 'revoke', outcome: 'done' },
  ]);
});

test('an incident that nothing derives from is refused, and creates nothing', async () => {
  const server = await serve();
  const before = await server.contents();
  const answer = await callOperation(server, 'incidents.propose', { key: 'i', body: LEAKED });
  expect(answer).toMatchObject({
    status: 404,
    body: { code: 'not_found', detail: expect.stringContaining('No entry derives') },
  });
  expect(await server.contents()).toEqual(before);
});
