import { ServerError } from '@assize/command/operation';

/** The requests without an answer. A stop of the server can answer them. */
export class OpenRequests {
  readonly #rejects: Set<(error: Error) => void> = new Set();
  readonly #none: PromiseWithResolvers<void> = Promise.withResolvers();
  #isLast = false;

  /**
   * Resolves with the work, or rejects when the requests are ended or the time is over. The work
   * then continues.
   *
   * @throws ServerError `request_timeout`; the error of `end`
   */
  run<T>(work: Promise<T>, limitMs: number): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#rejects.add(reject);
    const timer = setTimeout(() => reject(timedOut()), limitMs).unref();
    const settled = () => {
      clearTimeout(timer);
      this.#rejects.delete(reject);
      this.#check();
    };
    work.then(resolve, reject).finally(settled);
    return promise;
  }

  /** Resolves when every request has its answer. No other may begin. */
  ended(): Promise<void> {
    this.#isLast = true;
    this.#check();
    return this.#none.promise;
  }

  /** Answers every open request with the error. */
  end(error: Error): void {
    for (const reject of this.#rejects) reject(error);
    this.#rejects.clear();
    this.#check();
  }

  #check(): void {
    if (this.#isLast && this.#rejects.size === 0) this.#none.resolve();
  }
}

/** The error of a request whose time is over. */
export function timedOut(): ServerError {
  return new ServerError(
    'request_timeout',
    'The request took longer than the limit, and its outcome is unknown. Repeat it, with the same idempotency key.',
    { retryable: true },
  );
}
