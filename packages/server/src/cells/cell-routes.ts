import { type RootWatch, tenantOf } from '@assize/cells/internal';
import type { ForwardMark } from '../routing/forward-mark.ts';
import type { Forwarder, Forwarding } from '../routing/forwarder.ts';

/** A signal that does not end. */
const NEVER = new AbortController().signal;

/** Sends requests to the cell of their tenant. */
export class CellRoutes {
  readonly #watch: RootWatch;
  readonly #forwarder: Forwarder;
  readonly #mark: ForwardMark;

  constructor(watch: RootWatch, forwarder: Forwarder, mark: ForwardMark) {
    this.#watch = watch;
    this.#forwarder = forwarder;
    this.#mark = mark;
  }

  /** The id of a request that a server of another cell forwarded. */
  forwardedId(request: Request): string | undefined {
    return this.#mark.requestIdIn(request);
  }

  /**
   * The answer of the cell that has the tenant. Undefined: this cell is to answer.
   *
   * @throws CellsError `other_cell` if that cell has no address or no answer; `root_silent`
   */
  async forwarded(trajectoryId: string, forwarding: Forwarding, isForwarded: boolean): Promise<Response | undefined> {
    const tenant = tenantOf(trajectoryId);
    const place = this.#watch.placeOf(tenant);
    if (place === undefined || place.name === this.#watch.cell) return undefined;
    const { name: id, url } = place;
    // Two servers with different directories must not send a request to and fro.
    const response =
      url === undefined || isForwarded
        ? undefined
        : await this.#forwarder.send({ id, url, gone: NEVER }, { ...forwarding, mayRepeat: false });
    forwarding.signal.throwIfAborted();
    if (response === undefined) this.#watch.requireHere(tenant);
    return response;
  }
}
