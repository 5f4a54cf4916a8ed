import { ServerError } from '@assize/command/operation';
import { timedOut } from './open-requests.ts';

/**
 * Why a request may end before its answer: the client leaves, the server stops, or the time is
 * over. The reason of the signal is a typed error.
 */
export class RequestEnd {
  readonly #controller: AbortController = new AbortController();
  readonly #client: AbortSignal;
  readonly #stopping: AbortSignal;
  readonly #timer: NodeJS.Timeout;

  /** `stopping` has a typed reason. */
  constructor(client: AbortSignal, stopping: AbortSignal, limitMs: number) {
    this.#client = client;
    this.#stopping = stopping;
    this.#timer = setTimeout(this.#expire, limitMs).unref();
    client.addEventListener('abort', this.#left);
    stopping.addEventListener('abort', this.#stopped);
    if (client.aborted) this.#left();
    if (stopping.aborted) this.#stopped();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** To be called when the request is answered. */
  release(): void {
    clearTimeout(this.#timer);
    this.#client.removeEventListener('abort', this.#left);
    this.#stopping.removeEventListener('abort', this.#stopped);
  }

  readonly #stopped = (): void => this.#controller.abort(this.#stopping.reason);

  readonly #left = (): void =>
    this.#controller.abort(
      new ServerError(
        'client_left',
        'The client closed the connection before the answer. Repeat it with the same key.',
        {
          retryable: true,
        },
      ),
    );

  readonly #expire = (): void => this.#controller.abort(timedOut());
}
