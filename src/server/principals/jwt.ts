import { createRemoteJWKSet, decodeJwt, errors, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { isInstance } from '#base';
import type { JwtConfig, MappedPrincipal } from '#config';
import { ServerError } from '../errors.ts';

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
 * the keys come from the configuration, and never from the token.
 */
export class JwtVerifier {
  readonly #issuers: readonly Issuer[];

  constructor(configs: readonly JwtConfig[]) {
    this.#issuers = configs.map((config) => ({ config, keys: createRemoteJWKSet(new URL(config.jwksUrl)) }));
  }

  /** @throws ServerError `unauthenticated` */
  async verify(token: string, now: Date): Promise<MappedPrincipal> {
    try {
      const { iss } = decodeJwt(token);
      const issuer = this.#issuers.find(({ config }) => config.issuer === iss);
      if (issuer === undefined) throw refused();
      const { config, keys } = issuer;
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
      const mapped = config.principal(payload);
      if (mapped === undefined) throw refused();
      return mapped;
    } catch (cause) {
      if (isInstance(cause, errors.JOSEError)) throw refused(cause);
      throw cause;
    }
  }
}

/** The same message for every reason, because the caller is not known. */
function refused(cause?: unknown): ServerError {
  return new ServerError('unauthenticated', 'The token is not accepted here. Sign in again for a new one.', { cause });
}
