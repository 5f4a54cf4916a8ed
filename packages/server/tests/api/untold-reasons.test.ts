/** Refusals whose answer says little: the log has the reason, and a browser gets a page. */
import { expect, test } from 'vitest';
import { pay } from '../../../../tests/support/server/calling.ts';
import { headOf, sendRaw } from '../../../../tests/support/server/raw-http.ts';
import { start, type TestServer } from '../../../../tests/support/server/serving.ts';

const PATH = '/v1/trajectories/main/proposals';

/** The reason in the last line of a request that was refused so. */
async function reasonOf(server: TestServer, status: number): Promise<string> {
  const refused = () =>
    server.lines.map((line) => JSON.parse(line)).findLast((line) => line.status === status);
  await expect.poll(refused).toBeDefined();
  return refused().reason;
}

test('the log says why a token is refused, without the token', async () => {
  const server = await start();
  const known = server.tokens['agent:scout'];
  const [, id = ''] = known.split('_');
  for (const [token, reason] of [
    [await server.tokenFor('agent:scout', { expired: true }), /^token [0-9a-f]+: it expired at /],
    [`asz_${id}_${'0'.repeat(64)}`, `token ${id}: its secret is another one`],
    [
      'asz_ffffffffffffffff_none',
      /^token .*: it is unknown, was revoked, or belongs to another root key$/,
    ],
    ['a.b.c', /^jwt: /],
  ] as const) {
    const fresh = await start({ store: server.store });
    expect((await fresh.ask('GET', '/v1/me', { token })).status).toBe(401);
    expect(await reasonOf(fresh, 401)).toMatch(reason);
    expect(fresh.lines.join('\n')).not.toContain(token);
  }
});

test('the log says which header names no principal or host', async () => {
  const server = await start();
  expect(
    (await server.ask('GET', '/v1/me', { headers: { authorization: 'Basic x' } })).status,
  ).toBe(401);
  expect(await reasonOf(server, 401)).toContain('must be: Bearer TOKEN');
  const [answer] = await sendRaw(
    server.port,
    headOf('GET', '/v1/me', ['Host: evil.example', 'Connection: close']),
    '\r\n',
  );
  expect(await reasonOf(server, answer?.status ?? 0)).toContain(
    'the header Host is "evil.example"',
  );
});

test('a browser whose sign-in fails is shown a page, and a program a problem', async () => {
  const server = await start();
  for (const path of ['/sign-in/oidc', '/sign-in/callback?error=access_denied']) {
    const page = await server.ask('GET', path, { headers: { accept: 'text/html,*/*;q=0.8' } });
    expect([page.status, page.headers.get('content-type')]).toEqual([
      401,
      'text/html; charset=utf-8',
    ]);
    expect(page.text).toMatch(
      /What failed<.*This server has no OpenID provider\.<.*What to do<.*Use a link\..*Whom to ask</s,
    );
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect((await server.ask('GET', path)).body).toMatchObject({ code: 'sign_in_failed' });
  }
});

test('a link that signs in no one is answered with a page that says what to do', async () => {
  const server = await start();
  const used = new URL(await server.signInLink('boss:bob')).hash.slice(1);
  const send = (code: string, accept = 'text/html') =>
    server.ask('POST', '/v1/session', {
      body: { code },
      headers: { origin: server.url, accept },
    });
  expect((await send(used)).status).toBe(201);
  for (const [code, failed] of [
    [used, 'The code is unknown, was used, or has expired.'],
    ['', 'The link has no code, or only a part of it.'],
    [used.slice(1), 'The link has no code, or only a part of it.'],
  ] as const) {
    const { status, headers, text } = await send(code);
    expect([status, headers.get('content-type')]).toEqual([401, 'text/html; charset=utf-8']);
    expect(text).toContain(`<dt>What failed</dt><dd>${failed}</dd>`);
    expect(text).toMatch(/What to do<.*assize token sign-in NAME.*Whom to ask<.*request ID/s);
    expect(text).toContain(`<code>${headers.get('x-request-id')}</code>`);
    expect((await send(code, '*/*')).body).toMatchObject({ code: 'sign_in_failed' });
  }
});

test('a header in another spelling, or twice, means the same or is refused', async () => {
  const server = await start();
  const body = JSON.stringify(pay('a', 5, 'k').body);
  const send = async (...headers: readonly string[]) => {
    const own = [
      `Host: 127.0.0.1:${server.port}`,
      `Authorization: Bearer ${server.tokens['agent:scout']}`,
    ];
    const sent = [
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      'Connection: close',
    ];
    const [answer] = await sendRaw(
      server.port,
      headOf('POST', PATH, [...own, ...sent, ...headers]),
      '\r\n',
      body,
    );
    return answer?.body as any;
  };
  const { seq } = await send('Idempotency-Key: order-1');
  expect(await send('Idempotency-Key: order-1')).toMatchObject({ seq });
  expect(
    await send('Idempotency-Key: "order-1"', 'Prefer: wait="1"', 'Prefer: wait=1'),
  ).toMatchObject({ seq });
  const twice = await send('Idempotency-Key: order-1', 'Idempotency-Key: order-1');
  expect(twice).toMatchObject({ code: 'invalid_request' });
  expect(await send('Idempotency-Key: "order-2"')).toMatchObject({ seq: seq + 1 });
  const token = server.tokens['auditor:eve'];
  const events = await server.ask('GET', '/v1/events', {
    token,
    headers: { 'last-event-id': '0, 0' },
  });
  expect(events.body).toMatchObject({ code: 'invalid_request' });
});
