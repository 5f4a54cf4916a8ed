/** The client at a server in this process, and behind a network that loses answers. */
import { expect, test } from 'vitest';
import {
  type PrincipalName,
  start,
  type TestServer,
} from '../../../tests/support/server/serving.ts';
import { AssizeClient, AssizeProblem, type EntryEvent } from './index.ts';

const clientOf = (server: TestServer, as: PrincipalName, through: typeof fetch = fetch) =>
  new AssizeClient({ url: server.url, token: server.tokens[as], fetch: through });

const pay = (amount: number) => ({
  action: 'pay',
  role: { name: 'clerk', params: { desk: 'a' } },
  args: { amount },
});

/** A network that performs each request, and loses the first answers: alone, or in a proxy. */
function losing(count: number): { through: typeof fetch; sent: () => number } {
  let sent = 0;
  return {
    through: async (...args) => {
      const response = await fetch(...args);
      sent += 1;
      if (sent > count) return response;
      await response.body?.cancel();
      if (sent % 2 === 0) return new Response('<h1>Bad gateway</h1>', { status: 502 });
      throw new TypeError('fetch failed');
    },
    sent: () => sent,
  };
}

test('an agent proposes, a person decides by the digest, and both read it', async () => {
  const server = await start();
  const agent = clientOf(server, 'agent:scout');
  const boss = clientOf(server, 'boss:ada');
  expect(await agent.propose('main', pay(10), { key: 'small' })).toMatchObject({
    ruling: 'committed',
  });
  const waiting = agent.propose('main', pay(200), { key: 'large', waitSeconds: 20 });
  const pending = async () =>
    (await boss.call('get', '/v1/approvals', { query: { mine: 'true' } })).approvals;
  await expect.poll(async () => (await pending()).length).toBe(1);
  const [{ id = '', digest = '' } = {}] = await pending();
  expect(await boss.approve(id, { digest })).toMatchObject({ ruling: 'committed' });
  expect(await waiting).toMatchObject({ ruling: 'committed' });
});

test('a refusal is an error with its code, its findings and what to do', async () => {
  const server = await start();
  const agent = clientOf(server, 'agent:scout');
  const refused = await agent
    .propose('main', { action: 1, args: {} } as never, { key: 'k' })
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(AssizeProblem);
  expect(refused).toMatchObject({ status: 400, code: 'invalid_request', retryable: false });
  expect((refused as AssizeProblem).findings.map(({ pointer }) => pointer)).toContain(
    '/body/action',
  );
});

test('a lost answer is asked for again with the same key, and counts once', async () => {
  const server = await start();
  const { through, sent } = losing(2);
  const agent = clientOf(server, 'agent:scout', through);
  expect(await agent.propose('main', pay(10), { key: 'once' })).toMatchObject({ seq: 1 });
  expect(sent()).toBe(3);
  const next = await clientOf(server, 'agent:scout').propose('main', pay(10), { key: 'twice' });
  expect(next).toMatchObject({ seq: 2 });
});

test('a decision of a person is sent once', async () => {
  const server = await start();
  const { through, sent } = losing(1);
  const boss = clientOf(server, 'boss:ada', through);
  await expect(boss.approve('no-such', { digest: 'd' })).rejects.toThrow('fetch failed');
  expect(sent()).toBe(1);
});

test('names are one segment of a path, and no name leads to another path', async () => {
  const server = await start();
  const agent = clientOf(server, 'agent:scout');
  const read = (trajectory: string) =>
    agent.call('get', '/v1/trajectories/{trajectory}', { path: { trajectory } });
  for (const name of ['', '.', '..']) await expect(read(name)).rejects.toThrow(RangeError);
  await expect(read('a/../main')).rejects.toThrow('a/../main');
});

test('an answer that is not from the API is a problem with its own code', async () => {
  const page = async () => new Response('<h1>No such page</h1>', { status: 404 });
  const client = new AssizeClient({ url: 'http://127.0.0.1:1', fetch: page });
  await expect(client.call('get', '/v1/me', {})).rejects.toMatchObject({ code: 'bad_answer' });
});

test('events have each entry once, also when every connection breaks', async () => {
  const server = await start();
  const agent = clientOf(server, 'agent:scout');
  // Each connection ends after its first piece and a sign of life.
  const breaking: typeof fetch = async (...args) => {
    const response = await fetch(...args);
    const reader = response.body!.getReader();
    const { value } = await reader.read();
    await reader.cancel();
    const alive = 'event: alive\ndata: {}\n\n';
    return new Response(new Blob([value as Uint8Array<ArrayBuffer>, alive]), response);
  };
  for (const key of ['a', 'b', 'c']) await agent.propose('main', pay(1), { key });
  const leaving = new AbortController();
  const seen: EntryEvent[] = [];
  const auditor = clientOf(server, 'auditor:eve', breaking);
  const following = { trajectory: 'main', kind: 'commit', after: -1, signal: leaving.signal };
  const reading = (async () => {
    for await (const event of auditor.events(following)) {
      seen.push(event);
      if (seen.length === 3) await agent.propose('main', pay(1), { key: 'd' });
      if (seen.length === 4) leaving.abort(new Error('read enough'));
    }
  })();
  await expect(reading).rejects.toThrow('read enough');
  expect(seen.map(({ entry }) => entry.seq)).toEqual([1, 2, 3, 4]);
  expect(seen.every(({ kind }) => kind === 'commit')).toBe(true);
});
