import { timingSafeEqual } from 'node:crypto';
import { type KeyPair, keyedHash } from 'assize/internal/canon';
import { sideSecretOf } from 'assize/internal/stores';

/** The header of a request that a server forwards to another server of the store. */
export const FORWARDED = 'assize-forwarded';

/**
 * Marks forwarded requests. A mark has the id of the request, and a MAC under the root key: a
 * client cannot claim that a server has forwarded its request.
 */
export class ForwardMark {
  readonly #secret: Uint8Array;

  constructor(root: Pick<KeyPair, 'privateKey'>) {
    this.#secret = sideSecretOf(root);
  }

  /** The value of the header. */
  of(requestId: string, method: string, path: string): string {
    return `${requestId}.${this.#macOf(requestId, method, path)}`;
  }

  /** The id of a request that another server forwarded. Undefined for every other request. */
  requestIdIn(request: Request): string | undefined {
    const [requestId = '', mac = ''] = (request.headers.get(FORWARDED) ?? '').split('.');
    if (requestId === '') return undefined;
    const wanted = Buffer.from(this.#macOf(requestId, request.method, pathOf(request.url)));
    const given = Buffer.from(mac);
    return wanted.length === given.length && timingSafeEqual(wanted, given) ? requestId : undefined;
  }

  #macOf(requestId: string, method: string, path: string): string {
    return keyedHash(this.#secret, `assize/forwarded/v1\n${requestId}\n${method}\n${path}`);
  }
}

/** The path of a URL with its query, unchanged. */
export function pathOf(url: string): string {
  return url.slice(url.indexOf('/', url.indexOf('://') + 3));
}
