/** Attacks 59 to 63 of docs/design/threats.md: names, claims and addresses of callers. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MemoryStore } from '@assize/testing/memory';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { JwtConfig, MappedPrincipal, OidcConfig } from '#config';
import { callOperation, succeed } from '../support/server/calling.ts';
import { startProvider, type TestProvider } from '../support/server/oidc-provider.ts';
import { problemFaults } from '../support/server/refusals.ts';
import { type Answered, start, type TestServer } from '../support/server/serving.ts';

const MAIN = { trajectory: 'main' };
const CLIENT = { id: 'assize', secret: 'a secret of the test client, 32 characters' };

let provider: TestProvider;
beforeAll(async () => {
  provider = await startProvider();
});
afterAll(() => provider.close());

async function expectRefused(
  answer: Promise<Answered> | Answered,
  status: number,
  code: string,
): Promise<void> {
  const { headers, ...rest } = await answer;
  expect(
    problemFaults({ ...rest, type: headers.get('content-type') ?? '' }, status, code),
    rest.text,
  ).toEqual([]);
}

test('attack 59: a revoked writ recalls no memory, also by a part of it', async () => {
  const server = await start();
  const front = { ...MAIN, space: 'front' };
  const fact = { verb: 'assert', subject: 'ada', predicate: 'phone', object: '1' };
  await succeed(server, 'memory.state', { path: front, key: 'm', body: fact });
  const terms = {
    subject: 'agent:scout/sub',
    actions: ['assize.believe'],
    scopes: ['memory:front:**'],
    seconds: 600,
  };
  const { token: sub } = await succeed(server, 'writs.attenuate', { path: MAIN, body: terms });
  const recall = (token?: string) =>
    callOperation(server, 'memory.recall', {
      as: 'agent:scout',
      path: front,
      body: {},
      ...(token && { token }),
    });
  for (const { body } of [await recall(), await recall(sub)])
    expect(body.facts).toMatchObject([{ object: '1' }]);
  await expectRefused(
    callOperation(server, 'memory.recall', {
      as: 'agent:scout',
      path: { ...MAIN, space: 'back' },
      body: {},
    }),
    403,
    'forbidden',
  );
  await succeed(server, 'writs.revoke', {
    path: { ...MAIN, writ: 'agent:scout' },
    body: { reason: 'left' },
  });
  for (const answer of [await recall(), await recall(sub)])
    await expectRefused(answer, 403, 'forbidden');
  const read = await succeed(server, 'memory.recall', { as: 'boss:ada', path: front, body: {} });
  expect(read.facts).toMatchObject([{ object: '1' }]);
});

/** A server whose people sign in at the provider, over a store. */
async function serverFor(
  principal: OidcConfig['principal'],
  store = new MemoryStore(),
  more: Partial<OidcConfig> = {},
) {
  const oidc: OidcConfig = {
    issuer: provider.issuer,
    clientId: CLIENT.id,
    clientSecret: CLIENT.secret,
    principal,
    ...more,
  };
  return start({ store, server: { oidc: { scope: 'openid email', ...oidc } } });
}

/** Signs a person in. Returns the answer of the server to the last step. */
async function signIn(server: TestServer, person: string): Promise<Answered> {
  provider.register({ ...CLIENT, redirect: `${server.url}/sign-in/callback` });
  const begun = await server.ask('GET', '/sign-in/oidc');
  const cookie = begun.headers.get('set-cookie')?.split(';')[0] as string;
  const back = new URL(await provider.signIn(begun.headers.get('location') as string, person));
  return server.ask('GET', `${back.pathname}${back.search}`, { headers: { cookie } });
}

async function cookieOf(server: TestServer, person: string): Promise<Record<string, string>> {
  const { status, headers, text } = await signIn(server, person);
  expect(status, text).toBe(303);
  return { cookie: headers.get('set-cookie')?.split(';')[0] as string };
}

test('attack 60: a session after its mapping changed or was removed: 401', async () => {
  const store = new MemoryStore();
  const boss: MappedPrincipal = { name: 'person:grace', kinds: ['counselor', 'admin'] };
  const first = await serverFor(
    ({ email }) => (email === 'grace@example.com' ? boss : undefined),
    store,
  );
  const headers = await cookieOf(first, 'grace');
  const me = (server: TestServer) => server.ask('GET', '/v1/me', { headers });
  expect((await me(first)).body).toMatchObject({
    name: 'person:grace',
    kinds: ['counselor', 'admin'],
  });
  await first.stop();

  // The mapping of today counts: the session has the kinds that it gives.
  const fewer = await serverFor(() => ({ ...boss, kinds: ['auditor'] }), store);
  expect((await me(fewer)).body).toMatchObject({
    name: 'person:grace',
    kinds: ['auditor'],
    method: 'oidc',
  });
  await expectRefused(fewer.ask('GET', '/v1/tokens', { headers }), 403, 'forbidden');
  for (const later of [
    await serverFor(() => undefined, store),
    await serverFor(() => ({ ...boss, name: 'person:other' }), store),
    await serverFor(() => boss, store, { issuer: 'http://127.0.0.1:9' }),
    await serverFor(() => boss, store, { clientId: 'another' }),
    await start({ store }),
  ])
    await expectRefused(me(later), 401, 'unauthenticated');
  expect((await me(await serverFor(() => boss, store))).status).toBe(200);
});

/** Names that stand for a principal of the configuration, or for the server. */
const TAKEN = [
  'Boss:ada',
  'boss:аda',
  'boss:ａda',
  'BOSS:BOB',
  'assize:server',
  'Assize:x',
  'аssize:notices',
  'assize：a',
  'person:\u200bx',
];

describe('attack 61: a name of another in claims or of a sub-agent: 403', () => {
  test.each(TAKEN)('%s', async (name) => {
    const issuer = await keyServer();
    const server = await start({
      server: {
        jwt: [issuer.entry('assize', ({ sub }) => ({ name: sub as string, kinds: ['counselor'] }))],
        oidc: {
          ...{
            issuer: provider.issuer,
            clientId: CLIENT.id,
            clientSecret: CLIENT.secret,
            scope: 'openid',
          },
          principal: () => ({ name, kinds: ['counselor'] }),
        },
      },
    });
    const me = async (sub: string) =>
      server.ask('GET', '/v1/me', { token: await issuer.token({ sub, aud: 'assize' }) });
    expect((await me('person:new')).body).toMatchObject({ name: 'person:new' });
    await expectRefused(me(name), 403, 'forbidden');
    const answer = await signIn(server, 'grace');
    await expectRefused(answer, 403, 'forbidden');
    expect(answer.headers.get('set-cookie')).toBeNull();

    const before = await server.contents();
    const part = { actions: ['pay'], scopes: ['role:clerk:a'] };
    const refused = [
      callOperation(server, 'writs.attenuate', {
        path: MAIN,
        body: { ...part, subject: name, seconds: 60 },
      }),
      callOperation(server, 'delegations.create', {
        path: MAIN,
        body: { ...part, subject: name, task: 'work', child_trajectory_id: 'child' },
      }),
      callOperation(server, 'writs.issue', {
        body: { ...part, subject: name, seconds: 60, nonce: 'n' },
      }),
    ];
    for (const one of refused) await expectRefused(one, 403, 'forbidden');
    expect(await server.contents()).toEqual(before);
  });

  test('a sub-agent whose name the configuration gets later', async () => {
    const store = new MemoryStore();
    const server = await start({ store });
    const part = {
      subject: 'agent:scout/sub',
      actions: ['pay'],
      scopes: ['role:clerk:a'],
      seconds: 600,
    };
    const { token } = await succeed(server, 'writs.attenuate', { path: MAIN, body: part });
    expect((await server.ask('GET', '/v1/me', { token })).body).toMatchObject({
      name: 'agent:scout/sub',
      kinds: ['agent'],
    });
    const later = await start({
      store,
      principals: { 'Agent:Scout/Sub': { kinds: ['counselor'] } },
    });
    await expectRefused(later.ask('GET', '/v1/me', { token }), 403, 'forbidden');
  });
});

/** An issuer of JWTs with its keys on this machine. */
async function keyServer() {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'own', alg: 'ES256' }];
  const http = createServer((_, response) => response.end(JSON.stringify({ keys })));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(() => void http.close());
  const jwksUrl = `http://127.0.0.1:${(http.address() as AddressInfo).port}/`;
  return {
    entry: (audience: string, principal: JwtConfig['principal']): JwtConfig => ({
      ...{ issuer: 'https://issuer.example', audience, jwksUrl, algorithms: ['ES256'], principal },
    }),
    token: (claims: JWTPayload) =>
      new SignJWT({ iss: 'https://issuer.example', ...claims })
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'own' })
        .setIssuedAt()
        .setExpirationTime('5m')
        .sign(privateKey),
  };
}

test('a client has two secrets while one replaces the other', async () => {
  const boss = () => ({ name: 'boss:ada' });
  const statusBy = async (clientSecret: OidcConfig['clientSecret']) => {
    const server = await serverFor(boss, new MemoryStore(), {
      ...(clientSecret && { clientSecret }),
    });
    const { status, text } = await signIn(server, 'grace');
    expect(text).not.toContain(CLIENT.secret);
    await server.stop();
    return status;
  };
  const refused = await statusBy('another secret of the client');
  expect(refused).toBe(await statusBy(['another secret of the client', 'and one more of them']));
  expect(refused).toBeGreaterThanOrEqual(400);
  expect(refused).toBeLessThan(500);
  expect(await statusBy([CLIENT.secret, 'the secret of tomorrow'])).toBe(303);
  expect(await statusBy(['the secret of tomorrow', CLIENT.secret])).toBe(303);
});

test('attack 62: a token for one audience of an issuer is refused at another', async () => {
  const issuer = await keyServer();
  const jwt = [
    issuer.entry('agents', ({ sub }) => (sub === 'scout' ? { name: 'agent:scout' } : undefined)),
    issuer.entry('people', ({ sub }) => (sub === 'ada' ? { name: 'boss:ada' } : undefined)),
  ];
  const server = await start({ server: { jwt } });
  const me = async (sub: string, aud: string | string[]) =>
    server.ask('GET', '/v1/me', { token: await issuer.token({ sub, aud }) });
  expect((await me('scout', 'agents')).body.name).toBe('agent:scout');
  expect((await me('ada', 'people')).body.name).toBe('boss:ada');
  expect((await me('ada', ['other', 'agents', 'people'])).body.name).toBe('boss:ada');
  for (const [sub, aud] of [
    ['scout', 'people'],
    ['ada', 'agents'],
    ['ada', 'other'],
    ['ada', []],
  ] as const)
    await expectRefused(me(sub, aud as string), 401, 'unauthenticated');
});

const forwarded = (address: string) => ({ 'x-forwarded-for': address });

test('attack 63: a stranger that floods the sign-in locks out itself alone', async () => {
  const limits = { requestsPerSecond: 1 };
  const behind = await start({ server: { limits, behindProxy: true } });
  const signInFrom = (server: TestServer, address: string) =>
    server.ask('POST', '/v1/session', {
      body: {},
      headers: { origin: server.url, ...forwarded(address) },
    });
  const flooded = await Promise.all(
    Array.from({ length: 30 }, (_, n) => signInFrom(behind, `9.9.9.${n}, 1.1.1.1`)),
  );
  expect(flooded.filter(({ status }) => status === 429).length).toBeGreaterThan(20);
  await expectRefused(signInFrom(behind, '1.1.1.1'), 429, 'too_fast');
  await expectRefused(signInFrom(behind, '2.2.2.2'), 401, 'sign_in_failed');
  await expectRefused(signInFrom(behind, '1.1.1.1, 2.2.2.2:81'), 401, 'sign_in_failed');

  // Without a proxy the header is a text of the client.
  const alone = await start({ server: { limits } });
  const claimed = await Promise.all(
    Array.from({ length: 30 }, (_, n) => signInFrom(alone, `3.3.3.${n}`)),
  );
  expect(claimed.filter(({ status }) => status === 429).length).toBeGreaterThan(20);
});
