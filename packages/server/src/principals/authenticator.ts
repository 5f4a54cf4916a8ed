import { type Caller, isToken, ServerError, type Tokens } from '@assize/command/operation';
import { isAssizeError } from 'assize/internal/base';
import { instantToMillis } from 'assize/internal/canon';
import { type MappedPrincipal, mappedPrincipal, type ResolvedConfig } from 'assize/internal/config';
import type { Clock } from 'assize/internal/oracle';
import type { FreeNames } from './free-names.ts';
import type { JwtVerifier } from './jwt.ts';
import type { Person, Sessions } from './sessions.ts';

/** The name of the session cookie. Browsers accept the prefix only over TLS. */
export const SESSION_COOKIE = '__Host-assize';
export const LOOPBACK_COOKIE = 'assize-session';

const BEARER = /^Bearer ([\x21-\x7e]+)$/i;

/** The secret that names the principal of a request. */
export interface Credential {
  readonly kind: 'token' | 'jwt' | 'session' | 'slack';
  readonly text: string;
}

/** Finds the principal of a request: by bearer token, by the token of another issuer, by cookie. */
export class Authenticator {
  readonly #config: ResolvedConfig;
  readonly #tokens: Tokens;
  readonly #sessions: Sessions;
  readonly #jwt: JwtVerifier;
  readonly #names: FreeNames;
  readonly #clock: Clock;
  readonly #isTls: boolean;
  readonly #requireStanding: (principal: string) => Promise<void>;

  constructor(parts: {
    readonly config: ResolvedConfig;
    readonly tokens: Tokens;
    readonly sessions: Sessions;
    readonly jwt: JwtVerifier;
    readonly names: FreeNames;
    readonly clock: Clock;
    /** Refuses principals that were revoked in every cell, and agents that are stopped. */
    readonly requireStanding: (principal: string) => Promise<void>;
  }) {
    this.#config = parts.config;
    this.#tokens = parts.tokens;
    this.#sessions = parts.sessions;
    this.#jwt = parts.jwt;
    this.#names = parts.names;
    this.#clock = parts.clock;
    this.#requireStanding = parts.requireStanding;
    const { publicUrl, tls } = parts.config.server;
    this.#isTls = publicUrl === undefined ? tls !== undefined : publicUrl.startsWith('https:');
  }

  /** @throws ServerError `unauthenticated` */
  credentialOf(request: Request): Credential {
    const authorization = request.headers.get('authorization');
    if (authorization !== null) {
      const [, text] = BEARER.exec(authorization) ?? [];
      if (text === undefined)
        throw unauthenticated('The header Authorization must be: Bearer TOKEN');
      return { kind: isToken(text) ? 'token' : 'jwt', text };
    }
    const cookie = sessionCookieOf(request, this.#isTls);
    if (cookie === undefined) throw unauthenticated('The request names no principal');
    return { kind: 'session', text: cookie };
  }

  /**
   * @throws ServerError `unauthenticated`, `session_changed`, `issuer_unreachable`, `forbidden` for
   * a name that is not free
   */
  async callerOf(request: Request): Promise<Caller> {
    const caller = await this.callerBy(this.credentialOf(request));
    requireShownPerson(request, caller);
    return caller;
  }

  /** The principal that a credential names now. @throws the errors of `callerOf` */
  async callerBy(credential: Credential): Promise<Caller> {
    const caller = await this.#named(credential);
    await this.#requireStanding(caller.name);
    return caller;
  }

  async #named({ kind, text }: Credential): Promise<Caller> {
    if (kind === 'token') return this.#byToken(text);
    if (kind === 'slack') return this.#bySlack(text);
    return kind === 'jwt' ? this.#byJwt(text) : this.#bySession(text);
  }

  async #byToken(text: string): Promise<Caller> {
    const { principal, kinds, writ, by } = await this.#tokens.verify(text, this.#clock.now());
    const known = this.#config.principals.get(principal);
    if (writ !== undefined) {
      // A token that is limited to a writ is for a principal that the configuration does not name.
      this.#names.requireFree(principal);
      return {
        name: principal,
        account: this.#accountOf(principal),
        kinds,
        grants: [],
        method: 'token',
        writ,
      };
    }
    if (known === undefined)
      throw unauthenticated(`The configuration no longer names ${principal}`);
    const tokenBy = [...new Set(by?.principals)].filter((name) => name !== principal);
    return {
      name: principal,
      kinds: kinds.filter((kind) => known.kinds.includes(kind)),
      grants: known.grants,
      method: 'token',
      ...(tokenBy.length > 0 && { tokenBy }),
    };
  }

  /** `text`: a workspace and a member that Slack has named in a signed request. */
  #bySlack(text: string): Caller {
    const known = [...this.#config.principals.values()].find(({ slack }) => slack === text);
    if (known === undefined)
      throw unauthenticated(`The configuration names nobody as ${text} in Slack`);
    const { name, kinds, grants } = known;
    return { name, kinds, grants, method: 'slack' };
  }

  async #byJwt(text: string): Promise<Caller> {
    const mapped = await this.#jwt.verify(text, new Date(instantToMillis(this.#clock.now())));
    return this.#mapped(mapped, 'jwt');
  }

  async #bySession(cookie: string): Promise<Caller> {
    const session = await this.#sessions.find(cookie, this.#clock.now());
    if (session === undefined) throw unauthenticated('The session has ended');
    if (session.ended !== undefined) {
      const { by, at } = session.ended;
      throw unauthenticated(`The session was ended by ${by} at ${at.slice(0, 16)}Z`);
    }
    const { principal: name, method, person } = session;
    if (method === 'oidc') {
      const caller = person && this.callerOfPerson(person);
      if (caller?.name === name) return { ...caller, sessionId: cookie };
      throw unauthenticated(`The configuration no longer maps this sign-in to ${name}`);
    }
    const known = this.#config.principals.get(name);
    if (known === undefined) throw unauthenticated(`The configuration no longer names ${name}`);
    return { name, kinds: known.kinds, grants: known.grants, method, sessionId: cookie };
  }

  /**
   * The principal of a person of an OpenID provider by the configuration of today. Undefined if it
   * accepts no such person.
   *
   * @throws ServerError `forbidden`, `unauthenticated`
   */
  callerOfPerson({ issuer, client, claims }: Person): Caller | undefined {
    const { oidc } = this.#config.server;
    if (oidc === undefined || oidc.issuer !== issuer || oidc.clientId !== client) return undefined;
    const mapped = oidc.principal(JSON.parse(claims) as Readonly<Record<string, unknown>>);
    return mapped && this.#mapped(mapped, 'oidc');
  }

  #mapped(given: MappedPrincipal, method: string): Caller {
    // The name may be a text of the person.
    if (typeof given.name === 'string') this.#names.requireOwnOrFree(given.name);
    try {
      const { name, kinds, grants } = mappedPrincipal(this.#config, given, method);
      return { name, kinds, grants, method };
    } catch (cause) {
      if (!isAssizeError(cause, 'bad_config')) throw cause;
      const text =
        'The configuration maps this sign-in to no principal that it can have. The log has the reason.';
      throw new ServerError('unauthenticated', text, { cause });
    }
  }

  /** The configured agent above a holder of a part of its grant, such as `agent:a/sub`. */
  #accountOf(holder: string): string {
    for (let end = holder.lastIndexOf('/'); end > 0; end = holder.lastIndexOf('/', end - 1))
      if (this.#config.principals.has(holder.slice(0, end))) return holder.slice(0, end);
    // An agent by its claims. Those with one name before the first slash share their limits.
    return holder.split('/', 1)[0] as string;
  }
}

/** The header by which a page names the person that it shows, as a part of a URL. */
const SHOWN_PERSON = 'assize-person';

/**
 * All tabs of a browser share its session. A page that still shows the person of an earlier session
 * must not act as the person of the next one.
 *
 * @throws ServerError `session_changed`
 */
function requireShownPerson(request: Request, { name, sessionId }: Caller): void {
  const shown = request.headers.get(SHOWN_PERSON);
  if (sessionId === undefined || shown === null || shown === encodeURIComponent(name)) return;
  throw new ServerError(
    'session_changed',
    'This browser is signed in as another person since the page was loaded. Load the page again.',
    { evidence: { principal: name } },
  );
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
  return new ServerError(
    'unauthenticated',
    `${what}. Send a token of assize token create, or sign in.`,
  );
}
