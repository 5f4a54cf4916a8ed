import { inTime } from './time-limit.ts';

/**
 * One thing that several wait for, each as long as its own signal lets it: that ends its own wait and nobody else's. When nobody waits
 * any more, it is given up.
 */
export class SharedWait<T> {
  readonly #givenUp = new AbortController();
  readonly #making: Promise<T>;
  #made: T | undefined;
  #hasFailed = false;
  #waiting = 0;

  /** `make` is to end soon after its signal is aborted, and to leave nothing then. */
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

  /** What was waited for, once it is there. */
  get made(): T | undefined {
    return this.#made;
  }

  /** Whether it was not made, and will not be. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Whether nobody waits for it any more, and it is not over yet: it may still be made. */
  get isGivenUp(): boolean {
    return this.#givenUp.signal.aborted && this.#made === undefined && !this.#hasFailed;
  }

  /** @throws the signal's reason, as long as it is not there; why it was given up; what kept it from being made */
  async wait(signal?: AbortSignal): Promise<T> {
    if (this.#made !== undefined) return this.#made;
    const { signal: givenUp } = this.#givenUp;
    this.#waiting++;
    try {
      const either = signal === undefined ? givenUp : AbortSignal.any([signal, givenUp]);
      return await inTime(either, () => this.#making);
    } finally {
      if (--this.#waiting === 0 && this.#made === undefined) this.#givenUp.abort();
    }
  }

  /** Ends each wait for that reason, where it is not there yet. */
  giveUp(reason: Error): void {
    if (this.#made === undefined) this.#givenUp.abort(reason);
  }

  /** When it is there, or will not be. */
  async settled(): Promise<void> {
    await this.#making.catch(() => undefined);
  }
}
