import type { Deployment } from 'assize/internal/config';
import type { ForwardMark } from './forward-mark.ts';
import type { Forwarder, Forwarding } from './forwarder.ts';

/** A signal that does not end. */
const NEVER = new AbortController().signal;

/** Sends requests to the place of their trajectory. */
export class DeploymentRoutes {
  readonly #deployment: Pick<Deployment, 'elsewhere' | 'requireHere'>;
  readonly #forwarder: Forwarder;
  readonly #mark: ForwardMark;

  constructor(
    deployment: Pick<Deployment, 'elsewhere' | 'requireHere'>,
    forwarder: Forwarder,
    mark: ForwardMark,
  ) {
    this.#deployment = deployment;
    this.#forwarder = forwarder;
    this.#mark = mark;
  }

  /** The id of a request that a server of another store forwarded. */
  forwardedId(request: Request): string | undefined {
    return this.#mark.requestIdIn(request);
  }

  /**
   * The answer of the server that has the trajectory. Undefined: this server is to answer.
   *
   * @throws the error of the deployment, if that place has no address or gives no answer
   */
  async forwarded(
    trajectoryId: string,
    forwarding: Forwarding,
    isForwarded: boolean,
  ): Promise<Response | undefined> {
    const place = this.#deployment.elsewhere(trajectoryId);
    if (place === undefined) return undefined;
    const { id, url } = place;
    // Two servers with different directories must not send a request to and fro.
    const response =
      url === undefined || isForwarded
        ? undefined
        : await this.#forwarder.send({ id, url, gone: NEVER }, { ...forwarding, mayRepeat: false });
    forwarding.signal.throwIfAborted();
    if (response === undefined) this.#deployment.requireHere(trajectoryId);
    return response;
  }
}
