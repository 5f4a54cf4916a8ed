/** Many proposals in one request, and a server with more proposals than it can answer soon. */

import { MemoryStore } from '@assize/testing/memory';
import type { Store } from 'assize/internal/stores';
import { expect, test } from 'vitest';
import { callOperation, pay, succeed } from '../../../../tests/support/server/calling.ts';
import { start, type TestServer } from '../../../../tests/support/server/serving.ts';

const MAIN = { trajectory: 'main' };
const proposal = (key: string, amount: number) => ({
  ...(pay('a', amount, key).body as object),
  key,
});

function propose(server: TestServer, proposals: readonly object[]) {
  return callOperation(server, 'proposals.create_many', {
    as: 'agent:scout',
    path: MAIN,
    body: { proposals },
  });
}

test('each of many proposals is ruled on alone, and once', async () => {
  const server = await start();
  const proposals = [proposal('k1', 1), proposal('k2', -1), proposal('k3', 200)];
  const { status, body } = await propose(server, proposals);
  expect(status).toBe(200);
  expect(
    body.results.map((result: any) => [result.key, result.ruling?.ruling ?? result.problem.code]),
  ).toEqual([
    ['k1', 'committed'],
    ['k2', 'rejected'],
    ['k3', 'escalated'],
  ]);
  expect((await propose(server, proposals)).body.results).toEqual(body.results);
  expect(await succeed(server, 'proposals.get', { path: { ...MAIN, key: 'k3' } })).toEqual(
    body.results[2].ruling,
  );
  const other = await propose(server, [proposal('k1', 2), proposal('k2', -1)]);
  expect(other.body.results).toMatchObject([
    { problem: { code: 'idempotency_conflict' } },
    body.results[1],
  ]);
});

test('many proposals count as many requests', async () => {
  const server = await start({ server: { limits: { requestsPerSecond: 10 } } });
  const some = (name: string, count: number) =>
    Array.from({ length: count }, (_, n) => proposal(`${name}${n}`, 1));
  expect((await propose(server, some('a', 30))).status).toBe(200);
  const refused = await propose(server, some('b', 30));
  expect(refused).toMatchObject({ status: 429, body: { code: 'too_fast' } });
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(
    (await callOperation(server, 'proposals.get', { path: { ...MAIN, key: 'b0' } })).status,
  ).toBe(404);
});

test('above the backlog a principal with its share must wait', async () => {
  const store = new MemoryStore();
  const held = Promise.withResolvers<void>();
  let isHeld = false;
  const commit: Store['commit'] = async (batch) => {
    if (isHeld) await held.promise;
    return store.commit(batch);
  };
  const slow = new Proxy<Store>(store, {
    get: (target, name) => {
      const member: unknown = name === 'commit' ? commit : Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  const server = await start({
    store: slow,
    server: { limits: { backlog: 4, requestsPerSecond: 1_000 } },
  });
  await succeed(server, 'proposals.create', pay('a', 1, 'first'));
  isHeld = true;
  const running = [0, 1, 2, 3].map((n) =>
    callOperation(server, 'proposals.create', pay('a', 1, `k${n}`)),
  );
  const backlog = async () => {
    const { text } = await server.ask('GET', '/metrics', { token: server.tokens['auditor:eve'] });
    return Number(/^assize_backlog (\d+)$/m.exec(text)?.[1]);
  };
  await expect.poll(backlog).toBe(4);
  const refused = await callOperation(server, 'proposals.create', pay('a', 1, 'k4'));
  expect(refused).toMatchObject({ status: 429, body: { code: 'too_busy', retryable: true } });
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  // Another principal has nothing in progress, so it gets its turn.
  const token = server.tokens['agent:other'];
  const role = { name: 'clerk', params: { desk: 'away' } };
  const other = callOperation(server, 'proposals.create', {
    ...{ token, path: { trajectory: 'other' }, key: 'o' },
    body: { action: 'pay', role, args: { amount: 1 } },
  });
  await expect.poll(backlog).toBe(5);
  held.resolve();
  expect((await Promise.all([...running, other])).map(({ status }) => status)).toEqual([
    200, 200, 200, 200, 200,
  ]);
  expect(await backlog()).toBe(0);
  await succeed(server, 'proposals.create', pay('a', 1, 'k4'));
});
