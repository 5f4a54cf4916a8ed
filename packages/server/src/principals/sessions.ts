import { addMicros, hashText, type Instant } from 'assize/internal/canon';
import type { SideStore } from 'assize/internal/ledger';
import type { Random } from 'assize/internal/oracle';
import { SealedRows } from 'assize/internal/stores';

/** A person that signed in at an OpenID provider. Each request maps the person to a principal. */
export interface Person {
  readonly issuer: string;
  /** The client id of the configuration. */
  readonly client: string;
  /** The claims of the ID token, as JSON. */
  readonly claims: string;
}

/** The principal of a signed-in browser. */
export interface Session {
  readonly principal: string;
  readonly method: 'session' | 'oidc';
  /** For `oidc`. */
  readonly person?: Person;
  readonly created: Instant;
  readonly expires: Instant;
  /** The person that ended it before its time. The row stays until then, for its browser. */
  readonly ended?: { readonly by: string; readonly at: Instant };
}

/** A session by its id, the hash of its cookie. */
export interface SessionRow extends Session {
  readonly id: string;
}

/** A sign-in code of the command line: used once, in ten minutes. */
interface SignInCode {
  readonly principal: string;
  readonly expires: Instant;
}

/** A sign-in that has started at an OpenID provider. */
export interface PendingSignIn {
  readonly verifier: string;
  readonly nonce: string;
  /** The hash of a secret that only the browser of the sign-in has, in a cookie. */
  readonly browser: string;
  readonly expires: Instant;
}

const SESSION_MICROS = 12 * 60 * 60 * 1_000_000;
const CODE_MICROS = 10 * 60 * 1_000_000;
const CODE = /^[0-9a-f]{64}$/;

/** Sessions, sign-in codes and sign-ins in progress. The side log has hashes of their secrets. */
export class Sessions {
  readonly #sessions: SealedRows<Session>;
  readonly #codes: SealedRows<SignInCode>;
  readonly #pending: SealedRows<PendingSignIn>;
  readonly #random: Random;

  constructor(side: SideStore, secret: Uint8Array, random: Random) {
    this.#sessions = new SealedRows(side, 'session', secret);
    this.#codes = new SealedRows(side, 'sign-in-code', secret);
    this.#pending = new SealedRows(side, 'sign-in', secret);
    this.#random = random;
  }

  /** Starts a session and returns the value of its cookie. */
  async start(session: Omit<Session, 'created' | 'expires'>, now: Instant): Promise<string> {
    return this.#kept(this.#sessions, {
      ...session,
      created: now,
      expires: addMicros(now, SESSION_MICROS),
    });
  }

  async find(cookie: string, now: Instant): Promise<Session | undefined> {
    return this.#live(this.#sessions, cookie, now);
  }

  async end(cookie: string): Promise<void> {
    if (CODE.test(cookie)) await this.#sessions.delete(hashText(cookie));
  }

  /** Ends a session by its id. Returns false if there is none. */
  async endById(id: string, by: string, at: Instant): Promise<boolean> {
    for (;;) {
      const row = await this.#sessions.get(id);
      if (row === undefined || row.value.ended !== undefined) return false;
      const ended = { ...row.value, ended: { by, at } };
      if (await this.#sessions.put(id, row.version, ended)) return true;
    }
  }

  /** The sessions after an id, by id. A session that has expired is among them until a sweep. */
  async *list(after?: string): AsyncGenerator<SessionRow> {
    for await (const { key, value } of this.#sessions.list(after))
      if (value.ended === undefined) yield { id: key, ...value };
  }

  /** A code that signs a principal in, once. */
  async createCode(principal: string, now: Instant): Promise<string> {
    return this.#kept(this.#codes, { principal, expires: addMicros(now, CODE_MICROS) });
  }

  /** Uses a code up, and returns its principal. Undefined for an unknown, used or ended code. */
  async useCode(code: string, now: Instant): Promise<string | undefined> {
    return (await this.#taken(this.#codes, code, now))?.principal;
  }

  /** Keeps a started sign-in and returns its `state`. */
  async beginSignIn(pending: Omit<PendingSignIn, 'expires'>, now: Instant): Promise<string> {
    return this.#kept(this.#pending, { ...pending, expires: addMicros(now, CODE_MICROS) });
  }

  /**
   * The started sign-in of a `state`. This uses the state up. `browser`: the secret of its cookie.
   * Another browser gets undefined, and uses nothing up.
   */
  async endSignIn(
    state: string,
    browser: string | undefined,
    now: Instant,
  ): Promise<PendingSignIn | undefined> {
    const begun = await this.#live(this.#pending, state, now);
    if (begun === undefined || browser === undefined || hashText(browser) !== begun.browser)
      return undefined;
    return this.#taken(this.#pending, state, now);
  }

  /** Deletes rows that have ended. */
  async sweep(now: Instant): Promise<void> {
    for (const rows of [this.#sessions, this.#codes, this.#pending] as SealedRows<{
      expires: Instant;
    }>[])
      for await (const { key, value } of rows.list())
        if (now >= value.expires) await rows.delete(key);
  }

  async #kept<T extends object>(rows: SealedRows<T>, value: T): Promise<string> {
    for (;;) {
      const secret = Buffer.from(this.#random.bytes(32)).toString('hex');
      if (await rows.put(hashText(secret), null, value)) return secret;
    }
  }

  async #live<T extends { readonly expires: Instant }>(
    rows: SealedRows<T>,
    secret: string,
    now: Instant,
  ): Promise<T | undefined> {
    const row = CODE.test(secret) ? await rows.get(hashText(secret)) : undefined;
    return row === undefined || now >= row.value.expires ? undefined : row.value;
  }

  async #taken<T extends { readonly expires: Instant }>(
    rows: SealedRows<T>,
    secret: string,
    now: Instant,
  ): Promise<T | undefined> {
    const value = await this.#live(rows, secret, now);
    // Of two requests with one code, one deletes the row.
    return value !== undefined && (await rows.delete(hashText(secret))) ? value : undefined;
  }
}
