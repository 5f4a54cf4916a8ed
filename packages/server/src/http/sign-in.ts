import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import { ServerError } from '@assize/command/operation';
import { isAssizeError } from 'assize/internal/base';
import { visible } from 'assize/internal/views';
import type { Context, Hono } from 'hono';
import { z } from 'zod';
import { LOOPBACK_COOKIE, SESSION_COOKIE, sessionCookieOf } from '../principals/authenticator.ts';
import type { OidcSignIn } from '../principals/oidc.ts';
import type { Person, Sessions } from '../principals/sessions.ts';
import type { AppParts } from './app.ts';
import { checkOrigin } from './guards.ts';
import { linkAdvice, type SignInWay, signInPage, startPage } from './pages.ts';
import { readBody } from './requests/body.ts';
import { SignInLimiter } from './sign-in-limiter.ts';

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
    return limiter.enter(
      clientAddress(context.req.raw, incoming, service.config.server.behindProxy),
    );
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

  app.get('/sign-in', () => signInPage());

  app.post('/v1/session', async (context) => {
    const leave = entered(context);
    try {
      checkOrigin(context.req.raw, addresses);
      const { data } = codeBody.safeParse(await readBody(context.req.raw, 1_024));
      if (data === undefined)
        throw new ServerError(
          'sign_in_failed',
          `The link has no code, or only a part of it. Open the whole link. ${linkAdvice(way)}`,
        );
      const principal = await sessions.useCode(data.code, now());
      if (principal === undefined || !service.config.principals.has(principal))
        throw new ServerError(
          'sign_in_failed',
          `The code is unknown, was used, or has expired. ${linkAdvice(way)}`,
        );
      const cookie = await sessions.start({ principal, method: 'session' }, now());
      await endBefore(context);
      return context.json({ name: principal }, 201, {
        'set-cookie': cookieText(cookie, addresses.origin),
      });
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
      throw new ServerError(
        'sign_in_failed',
        `This server has no OpenID provider. Use a link. ${linkAdvice(way)}`,
      );
    });
    return;
  }
  const callback = () => `${addresses.origin}/sign-in/callback`;
  app.get('/sign-in/oidc', async (context) => {
    const leave = entered(context);
    try {
      const { url, browser } = await oidc.begin(callback(), now());
      return context.body(null, 302, {
        location: url.href,
        'set-cookie': browserCookie(browser, addresses.origin),
      });
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
        throw new ServerError(
          'sign_in_failed',
          `You are ${nameIn(person)} at the provider, and this server knows no such person. Sign in there as another person, or ask to be added.`,
        );
      const cookie = await sessions.start(
        { principal: caller.name, method: 'oidc', person },
        now(),
      );
      await endBefore(context);
      return context.body(null, 303, {
        location: '/',
        'set-cookie': cookieText(cookie, addresses.origin),
      });
    } finally {
      leave();
    }
  });
}

/** The name of a person that the provider knows, in its own words. */
function nameIn({ claims }: Person): string {
  const { email, sub } = JSON.parse(claims) as Readonly<Record<string, unknown>>;
  return visible(String(email ?? sub).slice(0, NAME_MAX));
}

const NAME_MAX = 100;

/** The start page is for everybody. */
function unknownCaller(error: unknown): undefined {
  if (isAssizeError(error, 'unauthenticated') || isAssizeError(error, 'forbidden'))
    return undefined;
  throw error;
}

const BROWSER_COOKIE = 'assize-sign-in';

/** A cookie for the time of a sign-in. The browser sends it with the answer of the provider. */
function browserCookie(value: string, origin: string): string {
  const secure = origin.startsWith('https:') ? '; Secure' : '';
  return `${BROWSER_COOKIE}=${value}${secure}; Path=/sign-in; HttpOnly; SameSite=Lax; Max-Age=600`;
}

function browserOf(request: Request): string | undefined {
  return new RegExp(`(?:^|; ?)${BROWSER_COOKIE}=([\\w-]+)`).exec(
    request.headers.get('cookie') ?? '',
  )?.[1];
}

/** An empty value ends the cookie. Over TLS the name binds the cookie to this host. */
function cookieText(value: string, origin: string): string {
  const name = origin.startsWith('https:')
    ? `${SESSION_COOKIE}=${value}; Secure`
    : `${LOOPBACK_COOKIE}=${value}`;
  return `${name}; Path=/; HttpOnly; SameSite=Lax${value === '' ? '; Max-Age=0' : ''}`;
}

/** A subscriber has at least these groups of an IPv6 address for itself: 64 bits of 128. */
const NETWORK_GROUPS = 4;
const GROUPS = 8;

/**
 * The address of a client: that of its connection, or behind a proxy the last one of
 * `X-Forwarded-For`. The proxy added this one itself. The others are texts of the client. All
 * addresses of one IPv6 network count as one.
 */
export function clientAddress(
  request: Request,
  incoming: IncomingMessage | undefined,
  behindProxy: boolean,
): string {
  const forwarded = behindProxy
    ? request.headers.get('x-forwarded-for')?.split(',').at(-1)?.trim()
    : undefined;
  const address = withoutPort(forwarded || incoming?.socket.remoteAddress || '');
  return isIPv6(address) ? networkOf(address) : address;
}

/** Some proxies add the port of the connection. */
function withoutPort(text: string): string {
  const [, inBrackets, plain] = /^\[(.+)\](?::\d+)?$|^(\d+(?:\.\d+){3}):\d+$/.exec(text) ?? [];
  return inBrackets ?? plain ?? text;
}

function networkOf(address: string): string {
  // The parser of URLs writes each address in one form. It has no zones.
  const text = new URL(`http://[${address.split('%')[0]}]`).hostname.slice(1, -1);
  // An IPv4 address in the form of IPv6 is kept whole.
  if (text.startsWith('::ffff:')) return text;
  const [head = [], tail = []] = text
    .split('::')
    .map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: GROUPS - head.length - tail.length }, () => '0');
  return [...head, ...zeros, ...tail].slice(0, NETWORK_GROUPS).join(':');
}
