/**
 * How long something may take. Whoever sets a limit ends it, so that nothing is kept for a timer that nobody needs any more; a
 * timer that runs keeps no process alive.
 */
export class TimeLimit {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #outer: AbortSignal | undefined;
  readonly #onOuter = (): void => this.#stop(this.#outer!.reason);
  #over: (() => void) | undefined;

  /** `outer`: whoever else may say that it is over. */
  constructor(ms: number, outer?: AbortSignal) {
    this.#outer = outer;
    this.#timer = setTimeout(() => this.#stop(new DOMException(`It took ${ms} ms`, 'TimeoutError')), ms).unref();
    if (outer?.aborted) this.#onOuter();
    else outer?.addEventListener('abort', this.#onOuter);
  }

  /** Aborted when it is over. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What is made, or an error as soon as it may take no longer; what is made later is nobody's. One at a time. */
  bound<T>(make: () => T | Promise<T>, late: (reason: unknown) => Error): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#over = () => reject(late(this.signal.reason));
      if (this.signal.aborted) this.#over();
      // Not given to `resolve`, which would then wait for it, however long.
      else Promise.resolve(make()).then(resolve, reject);
    });
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener('abort', this.#onOuter);
  }

  #stop(reason: unknown): void {
    this.#controller.abort(reason);
    this.#over?.();
  }
}

/** What is made, or the signal's reason as soon as it is aborted; what is made later is nobody's. */
export async function inTime<T>(signal: AbortSignal, make: () => T | Promise<T>): Promise<T> {
  const made = make();
  if (!(made instanceof Promise)) return made;
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
