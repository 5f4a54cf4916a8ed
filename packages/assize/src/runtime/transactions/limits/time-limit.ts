import { setImmediate } from 'node:timers';

/**
 * A time limit from its creation, for waits and computation. The timer starts with the first wait.
 * The creator of a limit ends it, and with it its timer. A running timer keeps the process alive,
 * so that a caller that waits without success is notified.
 *
 * A limit can also detect idleness: then it expires without activity for some time, except during
 * waits for other transactions.
 */
export class TimeLimit {
  readonly #controller = new AbortController();
  readonly #ms: number;
  readonly #begun = performance.now();
  #timer: NodeJS.Timeout | undefined;
  /** The maximum idle time, and the time of the last activity. */
  #idleTimeoutMs = Number.POSITIVE_INFINITY;
  #heard = this.#begun;
  /** Number of nested waits for other transactions. */
  #waits = 0;
  readonly #outer: AbortSignal | undefined;
  readonly #onOuter = (): void => this.stop(this.#outer!.reason);
  #over: (() => void) | undefined;

  /** `outer`: another signal that ends the limit. */
  constructor(ms: number, outer?: AbortSignal) {
    this.#ms = ms;
    this.#outer = outer;
    if (outer?.aborted) this.#onOuter();
    else outer?.addEventListener('abort', this.#onOuter);
  }

  /** Aborted when the limit has expired or was stopped. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /**
   * Returns the result of `make`, or throws as soon as the limit expires; a later result is
   * dropped. One call at a time. A synchronous result is always used, however long it took; the
   * next call is then late.
   *
   * `heeds`: selects errors that take precedence over the reason of the signal, such as an error
   * that a transaction has not started. Such an error counts if it arrives in the same turn of the
   * event loop.
   *
   * @throws the errors of `make`; `late` if the limit had expired before
   */
  run<T>(
    make: () => T | Promise<T>,
    late: (reason: unknown) => Error,
    heeds?: (error: unknown) => boolean,
  ): T | Promise<T> {
    const { signal } = this;
    // No timer fires during a synchronous computation.
    if (!signal.aborted && this.#left() === 0) this.#expire(this.#ms);
    if (signal.aborted) throw late(signal.reason);
    const made = make();
    if (!isPromise(made)) {
      if (signal.aborted) throw late(signal.reason);
      return made;
    }
    if (this.#timer === undefined) this.#start();
    return new Promise((resolve, reject) => {
      const tooLate = (): void => reject(late(signal.reason));
      this.#over = heeds === undefined ? tooLate : () => void setImmediate(tooLate);
      if (signal.aborted) this.#over();
      // Not passed to `resolve`: it would wait for the promise without a limit.
      Promise.resolve(made).then(
        (value) => {
          if (!signal.aborted) resolve(value);
        },
        (error: unknown) => {
          if (!signal.aborted || heeds?.(error) === true) reject(error);
        },
      );
    });
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener('abort', this.#onOuter);
  }

  /** From now on, the limit expires after `idleTimeoutMs` milliseconds without activity. */
  watchIdle(idleTimeoutMs: number): void {
    this.#idleTimeoutMs = idleTimeoutMs;
    this.heartbeat();
    if (this.#timer !== undefined) this.#start();
  }

  /** From now on, only the total time counts. */
  stopWatchingIdle(): void {
    this.#idleTimeoutMs = Number.POSITIVE_INFINITY;
  }

  /** Records activity. Expires the limit if its time is over and no timer has fired yet. */
  heartbeat(): void {
    this.#heard = performance.now();
    if (this.#heard - this.#begun >= this.#ms && !this.signal.aborted) this.#expire(this.#ms);
  }

  /**
   * Starts a wait for other transactions. They have their own limits. Until `resume`, the wait does
   * not count as idle.
   */
  pause(): void {
    this.#waits++;
  }

  resume(): void {
    this.#waits--;
    this.heartbeat();
  }

  /** Milliseconds since creation. */
  get elapsedMs(): number {
    return performance.now() - this.#begun;
  }

  #start(): void {
    clearTimeout(this.#timer);
    const left = this.#left();
    const silent = this.#silent();
    this.#timer =
      left <= silent
        ? setTimeout(() => this.#expire(this.#ms), left)
        : setTimeout(() => this.#looked(), silent);
  }

  #looked(): void {
    if (this.#silent() > 0) this.#start();
    else this.#expire(this.#idleTimeoutMs, ' without activity');
  }

  /** Milliseconds left in total, at least 0. */
  #left(): number {
    return Math.max(0, this.#begun + this.#ms - performance.now());
  }

  /** Milliseconds left until the limit is idle, at least 0. */
  #silent(): number {
    return this.#waits > 0
      ? this.#idleTimeoutMs
      : Math.max(0, this.#heard + this.#idleTimeoutMs - performance.now());
  }

  #expire(ms: number, how = ''): void {
    this.stop(new DOMException(`It took ${ms} ms${how}`, 'TimeoutError'));
  }

  /** Ends the limit now, for that reason. */
  stop(reason: unknown): void {
    this.#controller.abort(reason);
    this.#over?.();
  }
}

/**
 * Also matches other thenables. To await a plain value costs two promises and a turn of the queue,
 * many times per transaction, so callers check first.
 */
export function isPromise<T>(made: T | Promise<T>): made is Promise<T> {
  const mayBe = (typeof made === 'object' && made !== null) || typeof made === 'function';
  if (!mayBe) return false;
  try {
    return typeof (made as Partial<Promise<T>>).then === 'function';
  } catch {
    // A value that cannot be read, such as a revoked Proxy, is an answer like any other.
    return false;
  }
}

/** The result of `make`, or the signal's reason as soon as it aborts; a later result is dropped. */
export function withSignal<T>(signal: AbortSignal, make: () => T | Promise<T>): T | Promise<T> {
  const made = make();
  return isPromise(made) ? until(signal, made) : made;
}

async function until<T>(signal: AbortSignal, made: Promise<T>): Promise<T> {
  const over = Promise.withResolvers<never>();
  const stop = (): void => over.reject(signal.reason);
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    return await Promise.race([over.promise, made]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
