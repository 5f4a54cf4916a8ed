import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

/** A provider of OpenID Connect on this machine. It signs in any name without a password. */
export interface TestProvider {
  readonly issuer: string;
  /** Accepts a client from now on, and no other. */
  register(client: TestClient): void;
  /** Signs a person in at the provider's pages. Returns the address that the browser is sent to. */
  signIn(authorization: string, person: string): Promise<string>;
  close(): Promise<void>;
}

export interface TestClient {
  readonly id: string;
  readonly secret: string;
  readonly redirect: string;
}

/** Starts a provider without a client. */
export async function startProvider(): Promise<TestProvider> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    register: (client) => {
      server.removeAllListeners('request');
      server.on('request', providerFor(issuer, client).callback());
    },
    signIn: (address, person) => signInAt(issuer, address, person),
    close: () => closed(server),
  };
}

function providerFor(issuer: string, client: TestClient): Provider {
  return new Provider(issuer, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [client.redirect],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    cookies: { keys: ['a key of the test'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: false,
    findAccount: (_context, sub) => ({
      accountId: sub,
      claims: () => ({ sub, email: `${sub}@example.com`, email_verified: true, name: sub }),
    }),
    features: { devInteractions: { enabled: true } },
  });
}

/** Follows the pages of the provider as a browser: sign in, consent, and the way back. */
export async function signInAt(
  issuer: string,
  authorization: string,
  person: string,
): Promise<string> {
  const cookies = new Map<string, string>();
  let next = authorization;
  let form: URLSearchParams | undefined;
  for (let i = 0; i < 12; i++) {
    const answer = await fetch(next, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form !== undefined && { method: 'POST', body: form }),
    });
    for (const text of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
      cookies.set(name, value);
    }
    form = undefined;
    const to = answer.headers.get('location');
    if (to !== null) {
      next = new URL(to, issuer).href;
      if (!next.startsWith(issuer)) return next;
      continue;
    }
    const page = await answer.text();
    const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1];
    const prompt = /name="prompt" value="([^"]+)"/.exec(page)?.[1];
    if (action === undefined || prompt === undefined)
      throw new Error(`The provider shows another page: ${page}`);
    next = new URL(action, issuer).href;
    form = new URLSearchParams({
      prompt,
      ...(prompt === 'login' && { login: person, password: 'any' }),
    });
  }
  throw new Error('The provider does not come to an end.');
}

async function closed(server: Server): Promise<void> {
  const end = Promise.withResolvers<void>();
  server.close(() => end.resolve());
  server.closeAllConnections();
  await end.promise;
}
