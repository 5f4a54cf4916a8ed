/**
 * How long something may take, from when this is made, whether it waits or computes; there is a timer only once it waits. Whoever sets a
 * limit ends it, so that nothing is kept for a timer that nobody needs any more. A timer that runs keeps the process alive: whoever waits
 * in vain is told.
 *
 * It may be attended too: then it is over as soon as nothing was heard of it for some time, but for what it waits for others.
 */
export class TimeLimit {
  readonly #controller = new AbortController();
  readonly #ms: number;
  readonly #begun = performance.now();
  #timer: NodeJS.Timeout | undefined;
  /** How long it may be silent while it is attended, and when something was heard of it last. */
  #idleMs = Number.POSITIVE_INFINITY;
  #heard = this.#begun;
  /** What it waits for of others, one inside of another. */
  #waits = 0;
  readonly #outer: AbortSignal | undefined;
  readonly #onOuter = (): void => this.stop(this.#outer!.reason);
  #over: (() => void) | undefined;

  /** `outer`: whoever else may say that it is over. */
  constructor(ms: number, outer?: AbortSignal) {
    this.#ms = ms;
    this.#outer = outer;
    if (outer?.aborted) this.#onOuter();
    else outer?.addEventListener('abort', this.#onOuter);
  }

  /** Aborted when it is over. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /**
   * What is made, or an error as soon as it may take no longer; what is made later is nobody's. One at a time. What is there at once
   * is not waited for, and taken however long that took: it is the next one that is late then.
   *
   * `heeds`: what runs is told by the signal, and may know what that means for it, as that it has not begun. An error of that kind counts
   * where it comes within this turn of the loop.
   *
   * @throws what `make` throws; `late`, where it was over before
   */
  bound<T>(
    make: () => T | Promise<T>,
    late: (reason: unknown) => Error,
    heeds?: (error: unknown) => boolean,
  ): T | Promise<T> {
    const { signal } = this;
    // No timer tells it to whoever has computed all the while.
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
      // Not given to `resolve`, which would then wait for it, however long.
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

  /** From now on something is to be heard of it every so many milliseconds. */
  attend(idleMs: number): void {
    this.#idleMs = idleMs;
    this.heard();
    if (this.#timer !== undefined) this.#start();
  }

  /** It is over by its whole time alone again. */
  unattend(): void {
    this.#idleMs = Number.POSITIVE_INFINITY;
  }

  /** It goes on; where its time is over by now, and no timer has come to tell that, it is over. */
  heard(): void {
    this.#heard = performance.now();
    if (this.#heard - this.#begun >= this.#ms && !this.signal.aborted) this.#expire(this.#ms);
  }

  /** It waits for others, who have limits of their own, until `goesOn`: that is not its silence. */
  waits(): void {
    this.#waits++;
  }

  goesOn(): void {
    this.#waits--;
    this.heard();
  }

  /** Milliseconds since this was made. */
  get elapsedMs(): number {
    return performance.now() - this.#begun;
  }

  #start(): void {
    clearTimeout(this.#timer);
    const left = this.#left();
    const silent = this.#silent();
    this.#timer =
      left <= silent ? setTimeout(() => this.#expire(this.#ms), left) : setTimeout(() => this.#looked(), silent);
  }

  #looked(): void {
    if (this.#silent() > 0) this.#start();
    else this.#expire(this.#idleMs, ' without a sign of life');
  }

  /** Milliseconds, at least 0. */
  #left(): number {
    return Math.max(0, this.#begun + this.#ms - performance.now());
  }

  /** Milliseconds that it may still be silent, at least 0. */
  #silent(): number {
    return this.#waits > 0 ? this.#idleMs : Math.max(0, this.#heard + this.#idleMs - performance.now());
  }

  #expire(ms: number, how = ''): void {
    this.stop(new DOMException(`It took ${ms} ms${how}`, 'TimeoutError'));
  }

  /** It is over now, for that reason. */
  stop(reason: unknown): void {
    this.#controller.abort(reason);
    this.#over?.();
  }
}

/**
 * Also what only can be waited for like one. To wait for what is there makes two promises and a turn of the queue, many times in each
 * transaction: who may have it at once looks first.
 */
export function isPromise<T>(made: T | Promise<T>): made is Promise<T> {
  const mayBe = (typeof made === 'object' && made !== null) || typeof made === 'function';
  return mayBe && typeof (made as Partial<Promise<T>>).then === 'function';
}

/** What is made, or the signal's reason as soon as it is aborted; what is made later is nobody's. */
export function inTime<T>(signal: AbortSignal, make: () => T | Promise<T>): T | Promise<T> {
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
