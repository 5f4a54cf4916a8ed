import { ServerError } from '@assize/command/operation';
import { LruCache } from 'assize/internal/base';
import { faultOfName, hasReservedPrefix, isSamePrincipal } from 'assize/internal/kernel';

const CACHED_MAX = 1_000;

/** The names that principals outside the configuration may have: from claims, or of sub-agents. */
export class FreeNames {
  readonly #configured: ReadonlySet<string>;
  readonly #checked: LruCache<boolean> = new LruCache(CACHED_MAX);

  /** `configured`: the names of the configuration. */
  constructor(configured: Iterable<string>) {
    this.#configured = new Set(configured);
  }

  /**
   * Refuses a name of the configuration, a name that looks like one, a name of the server, and a
   * name with characters that are not visible.
   *
   * @throws ServerError `forbidden`
   */
  requireFree(name: string): void {
    const isFree = this.#checked.get(
      name,
      () =>
        faultOfName(name) === undefined &&
        !hasReservedPrefix(name) &&
        ![...this.#configured].some((one) => isSamePrincipal(one, name)),
    );
    if (isFree) return;
    throw new ServerError(
      'forbidden',
      `The name ${name} begins with assize:, is or looks like that of a principal of the configuration, or has characters that are not visible. Choose another name.`,
      { evidence: { principal: name } },
    );
  }

  /** The same, but accepts the names of the configuration. @throws ServerError `forbidden` */
  requireOwnOrFree(name: string): void {
    if (!this.#configured.has(name)) this.requireFree(name);
  }
}
