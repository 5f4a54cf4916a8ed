import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { generateKeyPair, SignJWT } from 'jose';
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

async function withAnswer(status: number, body: string, work: (url: string) => Promise<void>): Promise<void> {
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
