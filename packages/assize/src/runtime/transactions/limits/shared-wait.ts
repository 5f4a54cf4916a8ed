import { withSignal } from './time-limit.ts';

/**
 * One pending value that several callers wait for. The signal of a caller ends only its own wait.
 * Without waiting callers, the request is cancelled.
 */
export class SharedWait<T> {
  readonly #givenUp = new AbortController();
  readonly #making: Promise<T>;
  #made: T | undefined;
  #hasFailed = false;
  #waiting = 0;

  /** `make` must end soon after its signal is aborted, and must then leave nothing behind. */
  constructor(make: (signal: AbortSignal) => Promise<T>) {
    this.#making = make(this.#givenUp.signal);
    this.#making.then(
      (made) => {
        this.#made = made;
      },
      () => {
        this.#hasFailed = true;
      },
    );
  }

  /** The value, once it is available. */
  get value(): T | undefined {
    return this.#made;
  }

  /** Whether the value was not made and will not be. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Whether the request was cancelled and has not ended; it may still succeed. */
  get isAbandoned(): boolean {
    return this.#givenUp.signal.aborted && this.#made === undefined && !this.#hasFailed;
  }

  /**
   * @throws the signal's reason, while the value is unavailable; the reason of the cancellation;
   * the errors of `make`
   */
  async wait(signal?: AbortSignal): Promise<T> {
    if (this.#made !== undefined) return this.#made;
    const { signal: givenUp } = this.#givenUp;
    this.#waiting++;
    try {
      const either = signal === undefined ? givenUp : AbortSignal.any([signal, givenUp]);
      return await withSignal(either, () => this.#making);
    } finally {
      if (--this.#waiting === 0 && this.#made === undefined) this.#givenUp.abort();
    }
  }

  /** Ends each wait with that reason, if the value is not available yet. */
  abandon(reason: Error): void {
    if (this.#made === undefined) this.#givenUp.abort(reason);
  }

  /** Resolves when the value is available, or never will be. */
  async settled(): Promise<void> {
    await this.#making.catch(() => undefined);
  }
}
