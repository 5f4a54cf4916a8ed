import type { IncomingMessage } from 'node:http';
import { ServerError } from '@assize/command/operation';
import { isAssizeError } from 'assize/internal/base';
import type { Context, Hono } from 'hono';
import { z } from 'zod';
import { LOOPBACK_COOKIE, SESSION_COOKIE, sessionCookieOf } from '../principals/authenticator.ts';
import type { OidcSignIn } from '../principals/oidc.ts';
import type { Sessions } from '../principals/sessions.ts';
import type { AppParts } from './app.ts';
import { readBody } from './body.ts';
import { clientAddress } from './client-address.ts';
import { checkOrigin } from './guards.ts';
import { signInPage, startPage } from './pages.ts';
import { SignInLimiter } from './sign-in-limiter.ts';
import { linkAdvice, type SignInWay } from './sign-in-way.ts';

const codeBody = z.strictObject({
  code: z.string().regex(/^[0-9a-f]{64}$/, 'must be the code of a sign-in link: 64 hex digits'),
});

/** The sessions of people, and the ways to them. */
export interface SignInPorts {
  readonly sessions: Sessions;
  readonly oidc: OidcSignIn | undefined;
  readonly way: SignInWay;
}

/** Adds the start page and the sign-in of browsers: by the code of a link, and by OIDC. */
export function addSignIn(app: Hono, parts: AppParts, { sessions, oidc, way }: SignInPorts): void {
  const { service, addresses, authenticator } = parts;
  const now = () => service.clock.now();
  const isTls = () => addresses.origin.startsWith('https:');
  const limiter = new SignInLimiter(parts.limits, () => performance.now());
  const entered = (context: Context): (() => void) => {
    const { incoming } = (context.env ?? {}) as { readonly incoming?: IncomingMessage };
    return limiter.enter(clientAddress(context.req.raw, incoming, service.config.server.behindProxy));
  };

  /** Ends the session that a new one of the same browser replaces. */
  const endBefore = async (context: Context): Promise<void> => {
    const before = sessionCookieOf(context.req.raw, isTls());
    if (before !== undefined) await sessions.end(before);
  };

  app.get('/', async (context) => {
    const caller =
      sessionCookieOf(context.req.raw, isTls()) === undefined
        ? undefined
        : await authenticator.callerOf(context.req.raw).catch(unknownCaller);
    return startPage(caller?.name, way);
  });

  app.get('/sign-in', () => signInPage(way));

  app.post('/v1/session', async (context) => {
    const leave = entered(context);
    try {
      checkOrigin(context.req.raw, addresses);
      const { data } = codeBody.safeParse(await readBody(context.req.raw, 1_024));
      const principal = data === undefined ? undefined : await sessions.useCode(data.code, now());
      if (principal === undefined || !service.config.principals.has(principal))
        throw new ServerError('sign_in_failed', `The code is unknown, was used, or has expired. ${linkAdvice(way)}`);
      const cookie = await sessions.start({ principal, method: 'session' }, now());
      await endBefore(context);
      return context.json({ name: principal }, 201, { 'set-cookie': cookieText(cookie, addresses.origin) });
    } finally {
      leave();
    }
  });

  app.delete('/v1/session', async (context) => {
    checkOrigin(context.req.raw, addresses);
    const cookie = sessionCookieOf(context.req.raw, isTls());
    if (cookie !== undefined) await sessions.end(cookie);
    return context.json({ ended: true }, 200, { 'set-cookie': cookieText('', addresses.origin) });
  });

  if (oidc === undefined) {
    app.on('GET', ['/sign-in/oidc', '/sign-in/callback'], () => {
      throw new ServerError('sign_in_failed', `This server has no OpenID provider. Use a link. ${linkAdvice(way)}`);
    });
    return;
  }
  const callback = () => `${addresses.origin}/sign-in/callback`;
  app.get('/sign-in/oidc', async (context) => {
    const leave = entered(context);
    try {
      const { url, browser } = await oidc.begin(callback(), now());
      return context.body(null, 302, { location: url.href, 'set-cookie': browserCookie(browser, addresses.origin) });
    } finally {
      leave();
    }
  });
  app.get('/sign-in/callback', async (context) => {
    const leave = entered(context);
    try {
      const url = new URL(context.req.url);
      const browser = browserOf(context.req.raw);
      const person = await oidc.end(new URL(`${callback()}${url.search}`), browser, now());
      const caller = authenticator.callerOfPerson(person);
      if (caller === undefined)
        throw new ServerError('sign_in_failed', 'The configuration accepts no person with these claims.');
      const cookie = await sessions.start({ principal: caller.name, method: 'oidc', person }, now());
      await endBefore(context);
      return context.body(null, 303, { location: '/', 'set-cookie': cookieText(cookie, addresses.origin) });
    } finally {
      leave();
    }
  });
}

/** The start page is for everybody. */
function unknownCaller(error: unknown): undefined {
  if (isAssizeError(error, 'unauthenticated') || isAssizeError(error, 'forbidden')) return undefined;
  throw error;
}

const BROWSER_COOKIE = 'assize-sign-in';

/** A cookie for the time of a sign-in. The browser sends it with the answer of the provider. */
function browserCookie(value: string, origin: string): string {
  const secure = origin.startsWith('https:') ? '; Secure' : '';
  return `${BROWSER_COOKIE}=${value}${secure}; Path=/sign-in; HttpOnly; SameSite=Lax; Max-Age=600`;
}

function browserOf(request: Request): string | undefined {
  return new RegExp(`(?:^|; ?)${BROWSER_COOKIE}=([\\w-]+)`).exec(request.headers.get('cookie') ?? '')?.[1];
}

/** An empty value ends the cookie. Over TLS the name binds the cookie to this host. */
function cookieText(value: string, origin: string): string {
  const name = origin.startsWith('https:') ? `${SESSION_COOKIE}=${value}; Secure` : `${LOOPBACK_COOKIE}=${value}`;
  return `${name}; Path=/; HttpOnly; SameSite=Lax${value === '' ? '; Max-Age=0' : ''}`;
}
