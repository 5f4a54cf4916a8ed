import { expect, test } from 'vitest';
import { start } from '../../../../tests/support/server/serving.ts';

test('a session answers only for the person that the page shows', async () => {
  const server = await start();
  const cookie = await server.cookieFor('boss:ada');
  const asked = (person?: string) =>
    server.ask('GET', '/v1/me', {
      headers: { cookie, ...(person !== undefined && { 'assize-person': person }) },
    });
  expect(await asked()).toMatchObject({ status: 200, body: { name: 'boss:ada' } });
  expect((await asked('boss%3Aada')).status).toBe(200);
  expect(await asked('boss%3Abob')).toMatchObject({
    status: 409,
    body: { code: 'session_changed' },
  });
  expect((await asked('boss:ada')).status).toBe(409);
  const token = server.tokens['boss:ada'];
  const program = await server.ask('GET', '/v1/me', {
    token,
    headers: { 'assize-person': 'boss%3Abob' },
  });
  expect(program.status).toBe(200);
});

test('a new sign-in of a browser ends its session before', async () => {
  const server = await start();
  const before = await server.cookieFor('boss:ada');
  const code = new URL(await server.signInLink('boss:bob')).hash.slice(1);
  const headers = { cookie: before, origin: server.url };
  const signed = await server.ask('POST', '/v1/session', { body: { code }, headers });
  expect(signed).toMatchObject({ status: 201, body: { name: 'boss:bob' } });
  expect((await server.ask('GET', '/v1/me', { headers: { cookie: before } })).status).toBe(401);
  const after = (signed.headers.get('set-cookie') as string).split(';')[0] as string;
  expect((await server.ask('GET', '/v1/me', { headers: { cookie: after } })).body.name).toBe(
    'boss:bob',
  );
});

test('a refused sign-in leaves the session of the browser', async () => {
  const server = await start();
  const cookie = await server.cookieFor('boss:ada');
  const headers = { cookie, origin: server.url };
  expect(
    (await server.ask('POST', '/v1/session', { body: { code: 'f'.repeat(64) }, headers })).status,
  ).toBe(401);
  expect((await server.ask('GET', '/v1/me', { headers: { cookie } })).status).toBe(200);
});
