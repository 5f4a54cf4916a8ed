import * as client from 'openid-client';
import { isInstance } from '#base';
import { hashText, type Instant } from '#canon';
import type { OidcConfig } from '#config';
import { ServerError } from '../errors.ts';
import { isLoopback } from '../loopback.ts';
import type { Person, Sessions } from './sessions.ts';

const SCOPE = 'openid email profile';
/** The store keeps the claims with the session. */
const CLAIMS_MAX = 16_384;

/** Signs people in with an OpenID provider: authorization code flow with PKCE, state and nonce. */
export class OidcSignIn {
  readonly #config: OidcConfig;
  readonly #sessions: Sessions;
  #provider: Promise<client.Configuration> | undefined;

  constructor(config: OidcConfig, sessions: Sessions) {
    this.#config = config;
    this.#sessions = sessions;
  }

  /**
   * The address at the provider where a sign-in begins, and a secret for a cookie of the browser.
   * Only that browser can end the sign-in. Otherwise a person could be signed in as another one by
   * a link.
   */
  async begin(redirectUrl: string, now: Instant): Promise<{ readonly url: URL; readonly browser: string }> {
    const provider = await this.#discovered();
    const verifier = client.randomPKCECodeVerifier();
    const nonce = client.randomNonce();
    const browser = client.randomState();
    const state = await this.#sessions.beginSignIn({ verifier, nonce, browser: hashText(browser) }, now);
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
    if (begun === undefined) throw failed('The sign-in is unknown, was used, or took too long');
    try {
      const tokens = await client.authorizationCodeGrant(await this.#discovered(), url, {
        pkceCodeVerifier: begun.verifier,
        expectedNonce: begun.nonce,
        expectedState: state,
        idTokenExpected: true,
      });
      const claims = JSON.stringify(tokens.claims() ?? {});
      if (claims.length > CLAIMS_MAX) throw failed(`The claims of the person exceed ${CLAIMS_MAX} characters`);
      return { issuer: this.#config.issuer, client: this.#config.clientId, claims };
    } catch (cause) {
      const isRefused =
        isInstance(cause, client.ClientError) ||
        isInstance(cause, client.ResponseBodyError) ||
        isInstance(cause, client.AuthorizationResponseError);
      throw isRefused ? failed('The provider refused the sign-in', cause) : cause;
    }
  }

  #discovered(): Promise<client.Configuration> {
    this.#provider ??= this.#discover().catch((error: unknown) => {
      // The next sign-in asks again.
      this.#provider = undefined;
      throw failed('The provider does not answer', error);
    });
    return this.#provider;
  }

  #discover(): Promise<client.Configuration> {
    const { issuer, clientId, clientSecret } = this.#config;
    const url = new URL(issuer);
    const isPlain = url.protocol === 'http:' && isLoopback(url.hostname);
    // The ID token's signature is checked too, and not only the connection that it came by.
    const execute = [client.enableNonRepudiationChecks, ...(isPlain ? [client.allowInsecureRequests] : [])];
    return client.discovery(url, clientId, clientSecret, undefined, { execute });
  }
}

function failed(what: string, cause?: unknown): ServerError {
  return new ServerError('sign_in_failed', `${what}. Start the sign-in again.`, { cause });
}
