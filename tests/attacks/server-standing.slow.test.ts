/** Attacks 57 and 58 of docs/design/threats.md: what runs on after a revocation. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { callOperation, pay, succeed } from '../support/server/calling.ts';
import { problemFaults } from '../support/server/refusals.ts';
import { type Answered, start, type TestServer } from '../support/server/serving.ts';

const MAIN = { trajectory: 'main' };
/** Other work may keep the machine busy. */
const PATIENCE = { timeout: 30_000 };

interface Stream {
  text: string;
  hasEnded: boolean;
}

/** An event stream that is read until it ends. */
async function streamAs(
  server: TestServer,
  headers: Readonly<Record<string, string>>,
): Promise<Stream> {
  const leaving = new AbortController();
  const response = await fetch(`${server.url}/v1/events`, { headers, signal: leaving.signal });
  expect(response.status).toBe(200);
  const stream: Stream = { text: '', hasEnded: false };
  const body = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream());
  void (async () => {
    for await (const piece of body) stream.text += piece;
    stream.hasEnded = true;
  })().catch(() => undefined);
  await expect.poll(() => stream.text, PATIENCE).toContain('event: ready');
  return stream;
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

test('attack 57: streams of a revoked token and an ended session: ended', async () => {
  const server = await start();
  const [idle, busy, cookie] = [
    await server.tokenFor('auditor:eve'),
    await server.tokenFor('boss:bob'),
    await server.cookieFor('boss:ada'),
  ];
  const ofIdle = await streamAs(server, bearer(idle));
  const ofBusy = await streamAs(server, bearer(busy));
  const ofSession = await streamAs(server, { cookie });
  const ofOther = await streamAs(server, bearer(server.tokens['boss:ada']));
  const all = [ofIdle, ofBusy, ofSession, ofOther];
  await succeed(server, 'proposals.create', pay('a', 1, 'before'));
  await expect
    .poll(() => all.every(({ text }) => text.includes('event: commit')), PATIENCE)
    .toBe(true);

  for (const token of [idle, busy])
    await succeed(server, 'tokens.revoke', { path: { token: token.split('_')[1] as string } });
  const { sessions } = await succeed(server, 'sessions.list', { query: { principal: 'boss:ada' } });
  await succeed(server, 'sessions.end', { path: { session: sessions[0].id } });
  // An answer of the last second counts.
  await sleep(1_100);
  await succeed(server, 'proposals.create', pay('a', 1, 'after'));
  await expect.poll(() => ofOther.text.split('event: commit').length, PATIENCE).toBe(3);
  await expect
    .poll(() => all.map(({ hasEnded }) => hasEnded), PATIENCE)
    .toEqual([true, true, true, false]);
  for (const { text } of [ofIdle, ofBusy, ofSession])
    expect(text.split('event: commit')).toHaveLength(2);
  expect(server.lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
});

test('a stream without events ends after a revocation too', async () => {
  const server = await start();
  const token = await server.tokenFor('auditor:eve');
  const stream = await streamAs(server, bearer(token));
  await server.service.tokens.revoke(token.split('_')[1] as string);
  await expect.poll(() => stream.hasEnded, PATIENCE).toBe(true);
  const admin = server.tokens['admin:ann'];
  const metrics = async () => (await server.ask('GET', '/metrics', { token: admin })).text;
  await expect.poll(metrics, PATIENCE).toContain('assize_event_streams 0');
});

test('attack 58: a wait of a revoked token or writ: 401 or 403', async () => {
  const server = await start();
  const wait = { headers: { prefer: 'wait=300' } };
  const [ofAgent, ofBoss] = [
    await server.tokenFor('agent:scout'),
    await server.tokenFor('boss:bob'),
  ];
  const proposed = callOperation(
    server,
    'proposals.create',
    pay('a', 200, 'one', { token: ofAgent, ...wait }),
  );
  const waiting = callOperation(server, 'proposals.create', pay('b', 200, 'two', wait));
  const listed = async () =>
    (await succeed(server, 'approvals.list', { as: 'boss:ada' })).approvals;
  await expect.poll(listed, PATIENCE).toHaveLength(2);
  const [{ id }] = await listed();
  const looking = callOperation(server, 'approvals.get', {
    path: { approval: id },
    token: ofBoss,
    ...wait,
  });
  const own = callOperation(server, 'approvals.get', {
    as: 'agent:scout',
    path: { approval: id },
    ...wait,
  });
  const reader = callOperation(server, 'approvals.get', {
    as: 'auditor:eve',
    path: { approval: id },
    ...wait,
  });

  for (const token of [ofAgent, ofBoss])
    await server.service.tokens.revoke(token.split('_')[1] as string);
  for (const ended of [proposed, looking]) await expectProblem(ended, 401, 'unauthenticated');
  await succeed(server, 'writs.revoke', {
    path: { ...MAIN, writ: 'agent:scout' },
    body: { reason: 'left' },
  });
  for (const ended of [waiting, own]) await expectProblem(ended, 403, 'forbidden');
  await succeed(server, 'approvals.reject', {
    as: 'boss:ada',
    path: { approval: id },
    body: { reason: 'no' },
  });
  expect((await reader).body).toMatchObject({ status: 'resolved', ruling: { ruling: 'rejected' } });
});

async function expectProblem(
  answer: Promise<Answered>,
  status: number,
  code: string,
): Promise<void> {
  const { headers, ...rest } = await answer;
  expect(
    problemFaults({ ...rest, type: headers.get('content-type') ?? '' }, status, code),
    rest.text,
  ).toEqual([]);
}
