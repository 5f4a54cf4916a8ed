/**
 * Attacks on the identity of a caller: forged tokens of another issuer, and sign-ins of another
 * browser. Provider, key server and Assize run on this machine.
 */
import type { webcrypto } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  exportJWK,
  exportSPKI,
  generateKeyPair,
  type JWTPayload,
  SignJWT,
  UnsecuredJWT,
} from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateKeys } from '#canon';
import { defineConfig, resolveConfig } from '#config';
import { budget } from '#domains/budget';
import { type Serving, serve } from '#server';
import { openStore, type Store } from '#stores';
import { startProvider, type TestProvider } from '../support/server/oidc-provider.ts';

const ISSUER = 'https://issuer.example';
const AUDIENCE = 'https://assize.example';
const CLIENT = { id: 'assize', secret: 'a secret of the test client, 32 characters' };

let own: webcrypto.CryptoKeyPair;
let rsa: webcrypto.CryptoKeyPair;
let foreign: webcrypto.CryptoKeyPair;
let keyServer: Server;
let foreignServer: Server;
let provider: TestProvider;
let store: Store;
let server: Serving;
let log = '';
let foreignRequests = 0;

beforeAll(async () => {
  const pair = (alg: string) =>
    generateKeyPair(alg, { extractable: true }) as Promise<webcrypto.CryptoKeyPair>;
  [own, rsa, foreign] = [await pair('ES256'), await pair('RS256'), await pair('ES256')];
  const keys = [
    { ...(await exportJWK(own.publicKey)), kid: 'own', alg: 'ES256' },
    { ...(await exportJWK(rsa.publicKey)), kid: 'rsa', alg: 'RS256' },
  ];
  keyServer = await answering(() => ({ keys }));
  const foreignKeys = [{ ...(await exportJWK(foreign.publicKey)), kid: 'own', alg: 'ES256' }];
  foreignServer = await answering(() => {
    foreignRequests += 1;
    return { keys: foreignKeys };
  });
  provider = await startProvider();
  store = await openStore('memory:');
  const principal = ({ sub }: Readonly<Record<string, unknown>>) =>
    sub === 'scout' ? { name: 'agent:scout' } : undefined;
  const config = resolveConfig(
    defineConfig({
      store: 'memory:',
      worlds: { trip: { domain: 'budget' } },
      principals: {
        'agent:scout': { kinds: ['agent'], grants: [{ actions: ['**'] }] },
        'manager:grace': { kinds: ['counselor'] },
      },
      server: {
        port: 0,
        jwt: [
          {
            issuer: ISSUER,
            audience: AUDIENCE,
            jwksUrl: urlOf(keyServer),
            algorithms: ['ES256'],
            principal,
          },
        ],
        oidc: {
          issuer: provider.issuer,
          clientId: CLIENT.id,
          clientSecret: CLIENT.secret,
          scope: 'openid',
          principal: ({ sub }) => (sub === 'grace' ? { name: 'manager:grace' } : undefined),
        },
      },
    }),
    { folder: '.', env: {} },
  );
  server = await serve({
    ...{ config, store, domains: [budget] },
    root: { ...generateKeys(), origin: 'ephemeral', created: false },
    policyOf: () => {
      throw new Error('no policy');
    },
    log: (line) => {
      log += line;
    },
  });
  provider.register({ ...CLIENT, redirect: `${server.url}/sign-in/callback` });
});
afterAll(async () => {
  await server.stop();
  await store.close();
  await provider.close();
  keyServer.close();
  foreignServer.close();
});

async function answering(document: () => object): Promise<Server> {
  const http = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document()));
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return http;
}

function urlOf(http: Server): string {
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/keys`;
}

function me(headers: Readonly<Record<string, string>>): Promise<Response> {
  return fetch(`${server.url}/v1/me`, { headers });
}

describe('attack 25: a forged token of another issuer: 401, no change', () => {
  const NOW = Math.floor(Date.now() / 1_000);
  const HEADER = { alg: 'ES256', typ: 'at+jwt', kid: 'own' };
  const CLAIMS: JWTPayload = { iss: ISSUER, aud: AUDIENCE, sub: 'scout', iat: NOW, exp: NOW + 300 };

  const signed = (
    claims: object = {},
    header: object = {},
    key: webcrypto.CryptoKey | Uint8Array = own.privateKey,
  ) => new SignJWT({ ...CLAIMS, ...claims }).setProtectedHeader({ ...HEADER, ...header }).sign(key);

  /** The token with another part in place of one of its three parts. */
  const changed = async (i: number, change: (part: any) => object): Promise<string> => {
    const parts = (await signed()).split('.');
    const part = JSON.parse(Buffer.from(parts[i] as string, 'base64url').toString());
    parts[i] = Buffer.from(JSON.stringify(change(part))).toString('base64url');
    return parts.join('.');
  };

  test('counts for the principal that the configuration maps it to', async () => {
    const answer = await me({ authorization: `Bearer ${await signed()}` });
    expect([answer.status, await answer.json()]).toMatchObject([200, { name: 'agent:scout' }]);
  });

  const ATTACKS: Readonly<Record<string, () => Promise<string>>> = {
    'alg none': async () => new UnsecuredJWT(CLAIMS).encode(),
    'alg none with the signature of another token': () =>
      changed(0, (header) => ({ ...header, alg: 'none' })),
    'HS256 with the public key as the secret': async () =>
      signed({}, { alg: 'HS256' }, new TextEncoder().encode(await exportSPKI(own.publicKey))),
    'a key of the issuer with an algorithm that is not configured': () =>
      signed({}, { alg: 'RS256', kid: 'rsa' }, rsa.privateKey),
    'a foreign key under the kid of the issuer': () => signed({}, {}, foreign.privateKey),
    'a foreign key under a kid of its own': () =>
      signed({}, { kid: 'foreign' }, foreign.privateKey),
    'a foreign key with its address in jku': () =>
      signed({}, { kid: 'foreign', jku: urlOf(foreignServer) }, foreign.privateKey),
    'a foreign key inside the header': async () =>
      signed({}, { jwk: await exportJWK(foreign.publicKey) }, foreign.privateKey),
    'another audience': () => signed({ aud: 'https://other.example' }),
    'no audience': () => signed({ aud: undefined }),
    'another issuer': () => signed({ iss: 'https://other.example' }),
    'no issuer': () => signed({ iss: undefined }),
    'an expired token': () => signed({ iat: NOW - 900, exp: NOW - 300 }),
    'a token without an end': () => signed({ exp: undefined }),
    'a token of the future': () => signed({ nbf: NOW + 600 }),
    'a token that is older than a day': () => signed({ iat: NOW - 90_000, exp: NOW + 300 }),
    'an ID token in place of an access token': () => signed({ nonce: 'n' }, { typ: 'JWT' }),
    'a token without a type': () => signed({}, { typ: undefined }),
    'a changed claim': () => changed(1, (claims) => ({ ...claims, sub: 'scout2' })),
    'a subject that no principal is mapped to': () => signed({ sub: 'stranger' }),
    'an extension that must be understood': () =>
      changed(0, (header) => ({ ...header, crit: ['x'], x: 1 })),
  };

  test.each(Object.keys(ATTACKS))('is refused: %s', async (name) => {
    const before = await store.entries('trip');
    const token = await (ATTACKS[name] as () => Promise<string>)();
    const answer = await me({ authorization: `Bearer ${token}` });
    const problem = (await answer.json()) as { readonly detail: string };
    expect([answer.status, problem]).toMatchObject([401, { code: 'unauthenticated' }]);
    expect(problem.detail).toBe(
      'The token is not accepted here. Sign in again, or make another with assize token create.',
    );
    expect(log).not.toContain(token);
    expect(await store.entries('trip')).toEqual(before);
  });

  test('never makes the server ask an address that the token names', () => {
    expect(foreignRequests).toBe(0);
  });
});

function denied(url: URL, error = 'access_denied'): void {
  url.searchParams.delete('code');
  url.searchParams.set('error', error);
}

describe('attack 27: a forged, repeated or stolen sign-in: no session', () => {
  const cookieIn = (answer: Response) =>
    answer.headers.getSetCookie().map((text) => text.split(';')[0] as string);

  /** Begins a sign-in, and ends it at the provider. */
  async function signedIn(
    person: string,
  ): Promise<{ readonly back: string; readonly cookie: string }> {
    const begun = await fetch(`${server.url}/sign-in/oidc`, { redirect: 'manual' });
    const [cookie = ''] = cookieIn(begun);
    return { back: await provider.signIn(begun.headers.get('location') as string, person), cookie };
  }
  const end = (back: string, cookie: string) =>
    fetch(back, { redirect: 'manual', headers: { cookie } });
  const refused = async (answer: Response) => {
    expect([answer.status, await answer.json()]).toMatchObject([401, { code: 'sign_in_failed' }]);
    expect(answer.headers.getSetCookie()).toEqual([]);
  };

  test('begins a session of the mapped principal', async () => {
    const { back, cookie } = await signedIn('grace');
    const answer = await end(back, cookie);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/']);
    const who = await me({ cookie: cookieIn(answer)[0] as string });
    expect(await who.json()).toMatchObject({ name: 'manager:grace', kinds: ['counselor'] });
  });

  test('asks for PKCE, state and nonce', async () => {
    const begun = await fetch(`${server.url}/sign-in/oidc`, { redirect: 'manual' });
    const asked = new URL(begun.headers.get('location') as string).searchParams;
    expect(asked.get('code_challenge_method')).toBe('S256');
    for (const name of ['code_challenge', 'state', 'nonce'])
      expect(asked.get(name)?.length).toBeGreaterThan(30);
    expect(begun.headers.getSetCookie()).toEqual([expect.stringMatching(/HttpOnly; SameSite=Lax/)]);
  });

  test('ends once: a repeated state is refused', async () => {
    const { back, cookie } = await signedIn('grace');
    expect((await end(back, cookie)).status).toBe(303);
    await refused(await end(back, cookie));
  });

  test('does not end in another browser', async () => {
    const attacker = await signedIn('grace');
    const victim = await signedIn('grace');
    await refused(await end(attacker.back, victim.cookie));
    await refused(await end((await signedIn('grace')).back, ''));
  });

  test.each([
    ['another state', (url: URL) => url.searchParams.set('state', '0'.repeat(64))],
    ['no state', (url: URL) => url.searchParams.delete('state')],
    ['another code', (url: URL) => url.searchParams.set('code', 'x'.repeat(43))],
    ['no code', (url: URL) => url.searchParams.delete('code')],
    ['another issuer', (url: URL) => url.searchParams.set('iss', 'https://other.example')],
    ['an error of the provider', (url: URL) => url.searchParams.set('error', 'access_denied')],
  ])('is refused with %s', async (_, change) => {
    const { back, cookie } = await signedIn('grace');
    const url = new URL(back);
    change(url);
    await refused(await end(url.href, cookie));
  });

  test('with the code of another sign-in is refused', async () => {
    const [one, other] = [await signedIn('grace'), await signedIn('grace')];
    const url = new URL(one.back);
    url.searchParams.set('code', new URL(other.back).searchParams.get('code') as string);
    await refused(await end(url.href, one.cookie));
  });

  test('is refused for a person whom the configuration does not map', async () => {
    const { back, cookie } = await signedIn('mallory');
    await refused(await end(back, cookie));
  });

  test.each([
    ['You are mallory&#60;b&#62; at the provider', 'mallory<b>', () => undefined],
    ['The provider refused the sign-in: access_denied.', 'grace', denied],
    ['The provider refused the sign-in.', 'grace', (url: URL) => denied(url, '<b>')],
    ['The sign-in is unknown, was used, ', 'grace', (url: URL) => url.searchParams.delete('state')],
  ])('is refused in a browser by a page: %s', async (failed, person, change) => {
    const { back, cookie } = await signedIn(person);
    const url = new URL(back);
    change(url);
    const headers = { cookie, accept: 'text/html' };
    const answer = await fetch(url, { redirect: 'manual', headers });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      401,
      'text/html; charset=utf-8',
    ]);
    const text = await answer.text();
    expect(text).toContain(`<dt>What failed</dt><dd>${failed}`);
    expect(text).not.toContain('<b>');
    expect(text).toMatch(/What to do<.*Whom to ask</s);
  });

  test('leaves no code, state or cookie in the log', async () => {
    const { back, cookie } = await signedIn('grace');
    const answer = await end(back, cookie);
    const { searchParams } = new URL(back);
    const secrets = [
      searchParams.get('code'),
      searchParams.get('state'),
      cookie,
      ...cookieIn(answer),
    ];
    for (const secret of secrets) expect(log).not.toContain((secret as string).split('=').at(-1));
  });
});
