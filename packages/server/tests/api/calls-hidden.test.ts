/** Calls over HTTP with names that a schema would drop, and calls of other agents. */

import { gateway, readRules } from '@assize/gate/unstable/gateway';
import type { Domain } from 'assize/internal/kernel';
import { expect, test } from 'vitest';
import { start, type TestServer } from '../../../../tests/support/server/serving.ts';

const GRANTS = [{ actions: ['call', 'begin', 'report', 'session'] }];

async function serving(): Promise<TestServer> {
  const { rules } = readRules(
    '{ id: all, tools: { shop/pay: { class: irreversible } }, rules: [{ id: pay, allow: shop/pay }] }',
  );
  return start({
    ...{ rules, domains: [gateway({ rules }) as unknown as Domain] },
    config: { worlds: { calls: { domain: 'gateway' } }, tools: [] },
    principals: {
      'agent:ada': { kinds: ['agent'], grants: GRANTS },
      'agent:bob': { kinds: ['agent'], grants: GRANTS },
    },
  });
}

const PATH = '/v1/trajectories/calls/calls';
const CALL = { id: 'c1', server: 'shop', tool: 'pay', args: { cents: 5 } };

test('arguments with a member __proto__ are refused, and nothing is recorded', async () => {
  const server = await serving();
  const token = await server.tokenFor('agent:ada');
  const before = await server.contents();
  for (const args of [
    '{"__proto__":{"to":"mallory"}}',
    '{"a":[{"__proto__":1}]}',
    '{"\\u005f_proto__":1}',
  ]) {
    const raw = `{"id":"c1","server":"shop","tool":"pay","args":${args}}`;
    const headers = { 'content-type': 'application/json' };
    const { status, body } = await server.ask('POST', PATH, { token, raw, headers });
    expect([status, body.code, body.detail]).toEqual([
      400,
      'invalid_request',
      expect.stringContaining('__proto__'),
    ]);
  }
  const deep = `{"id":"c1","server":"shop","tool":"pay","args":{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`;
  const { status } = await server.ask('POST', PATH, {
    ...{ token, raw: deep },
    headers: { 'content-type': 'application/json' },
  });
  expect(status).toBeLessThan(500);
  expect(await server.contents()).toEqual(before);
});

test('a call of another agent is neither shown nor let through', async () => {
  const server = await serving();
  const [ada, bob] = [await server.tokenFor('agent:ada'), await server.tokenFor('agent:bob')];
  expect((await server.ask('POST', PATH, { token: ada, body: CALL })).body.decision).toBe(
    'allowed',
  );
  await server.ask('POST', `${PATH}/c1/report`, {
    token: ada,
    body: { outcome: 'done', result: 'paid' },
  });
  expect((await server.ask('GET', `${PATH}/c1/outcome`, { token: ada })).body.outcome).toBe('done');
  expect((await server.ask('GET', `${PATH}/c1/outcome`, { token: bob })).body).toEqual({});
  for (const later of [{}, { later: true }])
    expect(
      (await server.ask('POST', PATH, { token: bob, body: { ...CALL, ...later } })).body.decision,
    ).toBe('denied');
});
