/** Servers of one store that forward requests to the writer of a trajectory. */
import { createServer, type Server } from 'node:net';
import { MemoryStore } from '@assize/testing/memory';
import { systemClock, systemRandom } from 'assize/internal/oracle';
import { expect, onTestFinished, test } from 'vitest';
import { callOperation, pay, succeed } from '../../../../tests/support/server/calling.ts';
import { ROOT, start, type TestServer } from '../../../../tests/support/server/serving.ts';
import { FORWARDED, ForwardMark } from '../../src/routing/forward-mark.ts';
import { Members } from '../../src/routing/members.ts';

const LOOPBACK = {
  peerUrl: 'http://127.0.0.1:0',
  limits: { requestsPerSecond: 100_000, concurrency: 100 },
};

/** Servers that know each other. */
async function cluster(
  count: number,
  store: MemoryStore = new MemoryStore(),
): Promise<TestServer[]> {
  const servers: TestServer[] = [];
  for (let n = 0; n < count; n++) servers.push(await start({ store, server: LOOPBACK }));
  for (const server of servers)
    await expect.poll(() => gauge(server, 'servers'), { timeout: 10_000 }).toBe(count);
  return servers;
}

async function gauge(server: TestServer, name: string): Promise<number> {
  const { text } = await server.ask('GET', '/metrics', { token: server.tokens['auditor:eve'] });
  return Number(new RegExp(`^assize_${name} (\\d+)$`, 'm').exec(text)?.[1]);
}

/** The number of announced servers: they own each trajectory of a test, but by a rare chance. */
const OTHERS = 8;

/** Announces servers of the store at an address, and returns the function that withdraws them. */
async function announce(store: MemoryStore, url: string): Promise<() => Promise<unknown>> {
  const failed = (error: unknown): void => {
    throw error;
  };
  const ports = {
    clock: systemClock,
    random: systemRandom,
    nowMs: () => performance.now(),
    onFailure: failed,
  };
  const others = Array.from(
    { length: OTHERS },
    () => new Members({ side: store, root: ROOT, url, ...ports }),
  );
  for (const other of others) await other.start();
  return () => Promise.all(others.map((other) => other.stop()));
}

/** Accepts connections, and answers nothing. */
async function silent(): Promise<string> {
  const server: Server = createServer((socket) =>
    socket.on('error', () => socket.destroy()).resume(),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

test('one of the servers writes a trajectory, whichever is asked', async () => {
  const servers = await cluster(3);
  const keys = Array.from({ length: 30 }, (_, n) => `k${n}`);
  const rulings = await Promise.all(
    keys.map((key, n) => succeed(servers[n % 3]!, 'proposals.create', pay('a', 1, key))),
  );
  expect(new Set(rulings.map(({ seq }) => seq)).size).toBe(30);
  const answered = await Promise.all(servers.map((server) => gauge(server, 'forwarded_answered')));
  expect(answered.toSorted()).toEqual([0, 10, 10]);
  // A repetition at any server is the same proposal.
  for (const server of servers)
    expect(await succeed(server, 'proposals.create', pay('a', 1, 'k7'))).toEqual(rulings[7]);
  expect(await Promise.all(servers.map((server) => gauge(server, 'forwarded_unanswered')))).toEqual(
    [0, 0, 0],
  );
});

test('a forwarded request has the answer of the writer, also a refusal', async () => {
  const servers = await cluster(2);
  const asked = [
    pay('a', -1, 'bad'),
    pay('a', 1, 'odd', { body: { action: 'pay' } }),
    pay('a', 1, 'none', { path: { trajectory: 'missing' } }),
    pay('a', 300, 'ask'),
  ];
  for (const calling of asked) {
    const [one, two] = await Promise.all(
      servers.map((server) => callOperation(server, 'proposals.create', calling)),
    );
    const { request_id: first, ...problem } = one!.body;
    const { request_id: second, ...same } = two!.body;
    expect([two!.status, same]).toEqual([one!.status, problem]);
    for (const { status, body, headers } of [one!, two!])
      if (status >= 400) expect(body.request_id).toBe(headers.get('x-request-id'));
    for (const name of ['content-type', 'location', 'cache-control', 'content-security-policy'])
      expect(two!.headers.get(name)).toBe(one!.headers.get(name));
  }
});

test('a forwarded request waits for a decision', async () => {
  const servers = await cluster(2);
  const wait = { headers: { prefer: 'wait=30' } };
  const proposals = servers.map((server, n) =>
    succeed(server, 'proposals.create', pay('a', 200, `k${n}`, wait)),
  );
  const listed = async () =>
    (await succeed(servers[0]!, 'approvals.list', { as: 'boss:ada' })).approvals;
  for (let decided = 0; decided < 2; decided++) {
    await expect.poll(listed, { timeout: 10_000 }).not.toHaveLength(0);
    const [{ id, digest }] = await listed();
    await succeed(servers[1]!, 'approvals.approve', { path: { approval: id }, body: { digest } });
  }
  expect((await Promise.all(proposals)).map(({ ruling }) => ruling)).toEqual([
    'committed',
    'committed',
  ]);
});

test('a server that can not be reached is left out', async () => {
  const store = new MemoryStore();
  const withdraw = await announce(store, 'http://127.0.0.1:1');
  const server = await start({ store, server: LOOPBACK });
  await expect.poll(() => gauge(server, 'servers'), { timeout: 10_000 }).toBe(OTHERS + 1);
  const trajectories = ['main', 'spare'];
  for (let n = 0; n < 20; n++)
    await succeed(
      server,
      'proposals.create',
      pay('a', 1, `k${n}`, { path: { trajectory: trajectories[n % 2]! } }),
    );
  expect(await gauge(server, 'forwarded_unanswered')).toBeGreaterThan(0);
  await withdraw();
});

test('a request of a server that dies is ruled once, by another server', async () => {
  const store = new MemoryStore();
  const withdraw = await announce(store, await silent());
  const server = await start({ store, server: LOOPBACK });
  await expect.poll(() => gauge(server, 'servers'), { timeout: 10_000 }).toBe(OTHERS + 1);
  const proposals = ['main', 'spare'].map((trajectory) =>
    succeed(server, 'proposals.create', pay('a', 1, 'k', { path: { trajectory } })),
  );
  await withdraw();
  expect((await Promise.all(proposals)).map(({ ruling }) => ruling)).toEqual([
    'committed',
    'committed',
  ]);
  await succeed(server, 'proposals.create', pay('a', 1, 'k2'));
});

test('a forwarded request is not forwarded again', async () => {
  const store = new MemoryStore();
  const withdraw = await announce(store, await silent());
  const server = await start({ store, server: LOOPBACK });
  await expect.poll(() => gauge(server, 'servers'), { timeout: 10_000 }).toBe(OTHERS + 1);
  for (const trajectory of ['main', 'spare']) {
    const path = `/v1/trajectories/${trajectory}/proposals`;
    const headers = { [FORWARDED]: new ForwardMark(ROOT).of(`of-${trajectory}`, 'POST', path) };
    await succeed(server, 'proposals.create', pay('a', 1, 'k', { path: { trajectory }, headers }));
  }
  expect(await gauge(server, 'forwarded_unanswered')).toBe(0);
  await withdraw();
});

test('a server that stops is left out', async () => {
  const [one, two] = (await cluster(2)) as [TestServer, TestServer];
  await two.stop();
  await succeed(one, 'proposals.create', pay('a', 1, 'k'));
  await expect.poll(() => gauge(one, 'servers'), { timeout: 10_000 }).toBe(1);
});

test('an address for other servers needs TLS, or a private network', async () => {
  const peerUrl = 'http://10.0.0.5:4517';
  await expect(start({ server: { peerUrl } })).rejects.toMatchObject({
    code: 'bad_config',
    message: expect.stringContaining(
      'Servers would send tokens to http://10.0.0.5:4517 in plain text.',
    ),
  });
  const server = await start({ server: { peerUrl, behindProxy: true } });
  expect(await gauge(server, 'servers')).toBe(1);
});
