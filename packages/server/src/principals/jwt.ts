import { ServerError } from '@assize/command/operation';
import { isInstance, thrownText } from 'assize/internal/base';
import type { JwtConfig, MappedPrincipal } from 'assize/internal/config';
import { createRemoteJWKSet, decodeJwt, errors, type JWTVerifyGetKey, jwtVerify } from 'jose';

/** Clocks of issuers may differ by this many seconds. */
const TOLERANCE_SECONDS = 5;
/** A token of another issuer counts no longer than this, whatever its expiry says. */
const AGE_MAX = '24h';
const ASYMMETRIC = /^(RS|PS|ES)(256|384|512)$|^EdDSA$|^Ed25519$/;

interface Issuer {
  readonly config: JwtConfig;
  readonly keys: JWTVerifyGetKey;
}

/**
 * Bearer tokens of other issuers, as signed JWTs. Issuer, audience, algorithms and the address of
 * the keys come from the configuration, and never from the token. Of several entries with the
 * issuer and an audience of a token, the first that accepts the token maps it.
 */
export class JwtVerifier {
  readonly #issuers: readonly Issuer[];

  constructor(configs: readonly JwtConfig[]) {
    this.#issuers = configs.map((config) => ({ config, keys: keysAt(config.jwksUrl) }));
  }

  /** @throws ServerError `unauthenticated`, `issuer_unreachable` */
  async verify(token: string, now: Date): Promise<MappedPrincipal> {
    let cause: unknown;
    for (const issuer of this.#issuersOf(token)) {
      try {
        const mapped = await mappedBy(issuer, token, now);
        if (mapped !== undefined) return mapped;
      } catch (error) {
        if (!isInstance(error, errors.JOSEError)) throw error;
        cause ??= error;
      }
    }
    throw refused(cause ?? new Error(NOT_MAPPED));
  }

  /** The entries with the issuer and an audience of a token that is not verified yet. */
  #issuersOf(token: string): readonly Issuer[] {
    try {
      const { iss, aud } = decodeJwt(token);
      const audiences = [aud ?? []].flat();
      return this.#issuers.filter(
        ({ config }) => config.issuer === iss && audiences.includes(config.audience),
      );
    } catch (cause) {
      if (isInstance(cause, errors.JOSEError)) throw refused(cause);
      throw cause;
    }
  }
}

async function mappedBy(
  { config, keys }: Issuer,
  token: string,
  now: Date,
): Promise<MappedPrincipal | undefined> {
  const { payload } = await jwtVerify(token, keys, {
    issuer: config.issuer,
    audience: config.audience,
    algorithms: config.algorithms.filter((name) => ASYMMETRIC.test(name)),
    typ: 'at+jwt',
    clockTolerance: TOLERANCE_SECONDS,
    maxTokenAge: AGE_MAX,
    requiredClaims: ['exp', 'iat', 'sub'],
    currentDate: now,
  });
  return config.principal(payload);
}

/** The keys of an issuer. A token with an unknown key is a fault of the token. */
function keysAt(jwksUrl: string): JWTVerifyGetKey {
  const remote = createRemoteJWKSet(new URL(jwksUrl));
  const ofToken = [
    errors.JWKSNoMatchingKey,
    errors.JWKSMultipleMatchingKeys,
    errors.JOSENotSupported,
  ];
  return async (header, token) => {
    try {
      return await remote(header, token);
    } catch (cause) {
      if (ofToken.some((fault) => isInstance(cause, fault))) throw cause;
      const message =
        'The issuer of the token does not give its keys. Send the request again later.';
      throw new ServerError('issuer_unreachable', message, { cause, retryable: true });
    }
  };
}

/** The reason where no entry refuses the token, and none accepts it. */
const NOT_MAPPED =
  'no entry of server.jwt has its issuer and audience, or its function principal accepts no such claims';

/** The same message for every reason, because the caller is not known. */
function refused(cause: unknown): ServerError {
  const why = new Error(`jwt: ${thrownText(cause)}`, { cause });
  const text =
    'The token is not accepted here. Sign in again, or make another with assize token create.';
  return new ServerError('unauthenticated', text, { cause: why });
}
