import { ServerError } from '@assize/command/operation';
import { isInstance } from 'assize/internal/base';
import { hashText, type Instant } from 'assize/internal/canon';
import type { OidcConfig } from 'assize/internal/config';
import * as client from 'openid-client';
import { isLoopback } from '../loopback.ts';
import type { Person, Sessions } from './sessions.ts';

/** The provider, by the secret of the client, and by the second if there are two. */
type Providers = readonly [client.Configuration, client.Configuration?];

const SCOPE = 'openid email profile';
/** The store keeps the claims with the session. */
const CLAIMS_MAX = 16_384;

/** Signs people in with an OpenID provider: authorization code flow with PKCE, state and nonce. */
export class OidcSignIn {
  readonly #config: OidcConfig;
  readonly #sessions: Sessions;
  #provider: Promise<Providers> | undefined;

  constructor(config: OidcConfig, sessions: Sessions) {
    this.#config = config;
    this.#sessions = sessions;
  }

  /**
   * The address at the provider where a sign-in begins, and a secret for a cookie of the browser.
   * Only that browser can end the sign-in. Otherwise a person could be signed in as another one by
   * a link.
   */
  async begin(
    redirectUrl: string,
    now: Instant,
  ): Promise<{ readonly url: URL; readonly browser: string }> {
    const [provider] = await this.#discovered();
    const verifier = client.randomPKCECodeVerifier();
    const nonce = client.randomNonce();
    const browser = client.randomState();
    const state = await this.#sessions.beginSignIn(
      { verifier, nonce, browser: hashText(browser) },
      now,
    );
    const url = client.buildAuthorizationUrl(provider, {
      redirect_uri: redirectUrl,
      scope: this.#config.scope ?? SCOPE,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    });
    return { url, browser };
  }

  /**
   * The person of a finished sign-in. `url`: where the provider sent the browser. `browser`: the
   * secret of its cookie.
   *
   * @throws ServerError `sign_in_failed`
   */
  async end(url: URL, browser: string | undefined, now: Instant): Promise<Person> {
    const state = url.searchParams.get('state') ?? '';
    const begun = await this.#sessions.endSignIn(state, browser, now);
    if (begun === undefined)
      throw failed('The sign-in is unknown, was used, took too long, or began in another browser');
    try {
      const tokens = await this.#redeemed(url, {
        pkceCodeVerifier: begun.verifier,
        expectedNonce: begun.nonce,
        expectedState: state,
        idTokenExpected: true,
      });
      const claims = JSON.stringify(tokens.claims() ?? {});
      if (claims.length > CLAIMS_MAX)
        throw failed(`The claims of the person exceed ${CLAIMS_MAX} characters`);
      return { issuer: this.#config.issuer, client: this.#config.clientId, claims };
    } catch (cause) {
      const isRefused =
        isInstance(cause, client.ClientError) ||
        isInstance(cause, client.ResponseBodyError) ||
        isInstance(cause, client.WWWAuthenticateChallengeError) ||
        isInstance(cause, client.AuthorizationResponseError);
      throw isRefused ? failed(`The provider refused the sign-in${saidBy(cause)}`, cause) : cause;
    }
  }

  /** The tokens of a code, by the second secret of the client where the first is refused. */
  async #redeemed(
    url: URL,
    checks: client.AuthorizationCodeGrantChecks,
  ): Promise<Awaited<ReturnType<typeof client.authorizationCodeGrant>>> {
    const [provider, other] = await this.#discovered();
    try {
      return await client.authorizationCodeGrant(provider, url, checks);
    } catch (error) {
      if (other === undefined || !isClientRefused(error)) throw error;
      return client.authorizationCodeGrant(other, url, checks);
    }
  }

  #discovered(): Promise<Providers> {
    this.#provider ??= this.#discover().catch((error: unknown) => {
      // The next sign-in asks again.
      this.#provider = undefined;
      throw failed('The provider does not answer', error);
    });
    return this.#provider;
  }

  async #discover(): Promise<Providers> {
    const { issuer, clientId, clientSecret } = this.#config;
    const [secret, otherSecret] = [clientSecret].flat();
    const url = new URL(issuer);
    const isPlain = url.protocol === 'http:' && isLoopback(url.hostname);
    // The ID token's signature is checked too, and not only the connection that it came by.
    const execute = [
      client.enableNonRepudiationChecks,
      ...(isPlain ? [client.allowInsecureRequests] : []),
    ];
    const provider = await client.discovery(url, clientId, secret, undefined, { execute });
    if (otherSecret === undefined) return [provider];
    const other = new client.Configuration(provider.serverMetadata(), clientId, otherSecret);
    for (const each of execute) each(other);
    return [provider, other];
  }
}

/** The error of the provider in the address that the browser came back by (RFC 6749, 4.1.2.1). */
function saidBy(cause: unknown): string {
  return isInstance(cause, client.AuthorizationResponseError) && /^\w{1,60}$/.test(cause.error)
    ? `: ${cause.error}`
    : '';
}

/** Whether a provider refuses the client, and so has not looked at the code (RFC 6749, 5.2). */
function isClientRefused(error: unknown): boolean {
  if (isInstance(error, client.WWWAuthenticateChallengeError)) return error.status === 401;
  return isInstance(error, client.ResponseBodyError) && error.error === 'invalid_client';
}

function failed(what: string, cause?: unknown): ServerError {
  return new ServerError('sign_in_failed', `${what}. Start the sign-in again.`, { cause });
}
