import { instantToMillis } from '#canon';
import { type MappedPrincipal, mappedPrincipal, type ResolvedConfig } from '#config';
import type { Clock } from '#oracle';
import { ServerError } from '../errors.ts';
import type { Caller } from './caller.ts';
import type { JwtVerifier } from './jwt.ts';
import type { Sessions } from './sessions.ts';
import { isToken, type Tokens } from './tokens.ts';

/** The name of the session cookie. Browsers accept the prefix only over TLS. */
export const SESSION_COOKIE = '__Host-assize';
export const LOOPBACK_COOKIE = 'assize-session';

const BEARER = /^Bearer ([\x21-\x7e]+)$/i;

/** Finds the principal of a request: by bearer token, by the token of another issuer, by cookie. */
export class Authenticator {
  readonly #config: ResolvedConfig;
  readonly #tokens: Tokens;
  readonly #sessions: Sessions;
  readonly #jwt: JwtVerifier;
  readonly #clock: Clock;
  readonly #isTls: boolean;

  constructor(parts: {
    readonly config: ResolvedConfig;
    readonly tokens: Tokens;
    readonly sessions: Sessions;
    readonly jwt: JwtVerifier;
    readonly clock: Clock;
  }) {
    this.#config = parts.config;
    this.#tokens = parts.tokens;
    this.#sessions = parts.sessions;
    this.#jwt = parts.jwt;
    this.#clock = parts.clock;
    const { publicUrl, tls } = parts.config.server;
    this.#isTls = publicUrl === undefined ? tls !== undefined : publicUrl.startsWith('https:');
  }

  /** @throws ServerError `unauthenticated` */
  async callerOf(request: Request): Promise<Caller> {
    const authorization = request.headers.get('authorization');
    if (authorization !== null) {
      const [, text] = BEARER.exec(authorization) ?? [];
      if (text === undefined) throw unauthenticated('The header Authorization must be: Bearer TOKEN');
      return isToken(text) ? this.#byToken(text) : this.#byJwt(text);
    }
    const cookie = sessionCookieOf(request, this.#isTls);
    if (cookie !== undefined) return this.#bySession(cookie);
    throw unauthenticated('The request names no principal');
  }

  async #byToken(text: string): Promise<Caller> {
    const { principal, kinds, writ } = await this.#tokens.verify(text, this.#clock.now());
    const known = this.#config.principals.get(principal);
    // A token that is limited to a writ is for a principal that the configuration need not name.
    if (known === undefined && writ === undefined)
      throw unauthenticated(`The configuration no longer names ${principal}`);
    return {
      name: principal,
      kinds: known === undefined ? kinds : kinds.filter((kind) => known.kinds.includes(kind)),
      grants: known?.grants ?? [],
      method: 'token',
      ...(writ !== undefined && { writ }),
    };
  }

  async #byJwt(text: string): Promise<Caller> {
    const mapped = await this.#jwt.verify(text, new Date(instantToMillis(this.#clock.now())));
    return this.mapped(mapped, 'jwt');
  }

  async #bySession(cookie: string): Promise<Caller> {
    const session = await this.#sessions.find(cookie, this.#clock.now());
    if (session === undefined) throw unauthenticated('The session has ended');
    const { principal: name, method, kinds, grants } = session;
    const known = this.#config.principals.get(name);
    if (known === undefined && kinds === undefined) throw unauthenticated(`The configuration no longer names ${name}`);
    return {
      name,
      kinds: kinds ?? known?.kinds ?? [],
      grants: grants ?? known?.grants ?? [],
      method,
      sessionId: cookie,
    };
  }

  /** @throws ConfigError `bad_config` for a mapping that returns no principal */
  mapped(given: MappedPrincipal, method: string): Caller {
    const { name, kinds, grants } = mappedPrincipal(this.#config, given, method);
    return { name, kinds, grants, method };
  }
}

/**
 * The value of the session cookie. Over TLS only the name with a prefix counts, because a
 * neighbouring host can set the other one.
 */
export function sessionCookieOf(request: Request, isTls: boolean): string | undefined {
  return cookieOf(request, isTls ? SESSION_COOKIE : LOOPBACK_COOKIE);
}

export function cookieOf(request: Request, wanted: string): string | undefined {
  for (const pair of request.headers.get('cookie')?.split(';') ?? []) {
    const [name, value] = pair.trim().split('=');
    if (name === wanted) return value;
  }
  return undefined;
}

function unauthenticated(what: string): ServerError {
  return new ServerError('unauthenticated', `${what}. Send a token of assize token create, or sign in.`);
}
