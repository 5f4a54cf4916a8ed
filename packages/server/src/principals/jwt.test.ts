import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JwtConfig } from 'assize/internal/config';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { expect, test } from 'vitest';
import { JwtVerifier } from './jwt.ts';

const CLAIMS = { issuer: 'https://issuer.example', audience: 'https://assize.example' };

/** The verdict on a token whose issuer has its keys at a URL. */
async function verdictWith(jwksUrl: string): Promise<unknown> {
  const { privateKey } = await generateKeyPair('ES256');
  const token = await new SignJWT({ sub: 'scout', iss: CLAIMS.issuer, aud: CLAIMS.audience })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'one' })
    .setIssuedAt()
    .setExpirationTime('5m')
    .sign(privateKey);
  const verifier = new JwtVerifier([
    { ...CLAIMS, jwksUrl, algorithms: ['ES256'], principal: () => ({ name: 'agent:scout' }) },
  ]);
  return verifier.verify(token, new Date()).catch((error: unknown) => error);
}

async function withAnswer(
  status: number,
  body: string,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const http = createServer((_, response) => response.writeHead(status).end(body));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  try {
    await work(`http://127.0.0.1:${(http.address() as AddressInfo).port}/`);
  } finally {
    http.close();
  }
}

test.each([
  [500, '{}'],
  [200, 'no JSON'],
  [200, '{"keys":1}'],
])('an issuer that answers %s %s is unreachable, for now', async (status, body) => {
  await withAnswer(status, body, async (url) => {
    expect(await verdictWith(url)).toMatchObject({ code: 'issuer_unreachable', retryable: true });
  });
});

test('an issuer that does not answer is unreachable, for now', async () => {
  let closed = '';
  await withAnswer(200, '{}', async (url) => {
    closed = url;
  });
  expect(await verdictWith(closed)).toMatchObject({ code: 'issuer_unreachable' });
});

test('a key that the issuer does not have is a fault of the token', async () => {
  await withAnswer(200, '{"keys":[]}', async (url) => {
    expect(await verdictWith(url)).toMatchObject({ code: 'unauthenticated' });
  });
});

const other = 'https://other.example';

/** An issuer with several entries, each with the key that its tokens have. */
async function entries(work: (verify: Verify) => Promise<void>): Promise<void> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const keys = JSON.stringify({
    keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256' }],
  });
  await withAnswer(200, keys, async (jwksUrl) => {
    const entry = (audience: string, algorithm: string, name: string, sub: string): JwtConfig => ({
      ...{ issuer: CLAIMS.issuer, audience, jwksUrl, algorithms: [algorithm] },
      principal: (claims) => (claims['sub'] === sub ? { name } : undefined),
    });
    const verifier = new JwtVerifier([
      entry('agents', 'ES256', 'agent:scout', 'scout'),
      entry('people', 'ES256', 'boss:ada', 'ada'),
      entry('strict', 'RS256', 'admin:ann', 'ann'),
      entry('open', 'ES256', 'auditor:eve', 'ann'),
      { ...entry('people', 'ES256', 'stranger', 'ada'), issuer: other },
    ]);
    await work(async (sub, aud) => {
      const token = new SignJWT({ sub, iss: CLAIMS.issuer, ...(aud !== undefined && { aud }) })
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'one' })
        .setIssuedAt()
        .setExpirationTime('5m');
      return verifier.verify(await token.sign(privateKey), new Date()).then(
        ({ name }) => name,
        (error: { readonly code?: string }) => error.code,
      );
    });
  });
}

type Verify = (sub: string, aud: string | string[] | undefined) => Promise<string | undefined>;

test('the entry of a token is that of its issuer and of one of its audiences', async () => {
  await entries(async (verify) => {
    expect(await verify('scout', 'agents')).toBe('agent:scout');
    expect(await verify('ada', 'people')).toBe('boss:ada');
    expect(await verify('ada', ['agents', 'people'])).toBe('boss:ada');
    // An entry that does not accept the token leaves it to the next one with an audience of it.
    expect(await verify('ann', ['strict', 'open'])).toBe('auditor:eve');
    for (const aud of ['people', other, [], ['agent'], undefined])
      expect(await verify('scout', aud)).toBe('unauthenticated');
    for (const aud of ['strict', 'agents'])
      expect(await verify('ann', aud)).toBe('unauthenticated');
  });
});

test.each(['', 'x', 'a.b.c', 'eyJhbGciOiJFUzI1NiJ9.W10.x'])(
  'the text %j is not a token',
  async (text) => {
    const verifier = new JwtVerifier([]);
    await expect(verifier.verify(text, new Date())).rejects.toMatchObject({
      code: 'unauthenticated',
    });
  },
);
