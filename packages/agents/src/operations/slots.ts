import { ServerError } from '@assize/command/operation';

const RETRY_SECONDS = 5;

/** A number of works at once. A further one is refused, because its caller can ask again. */
export class Slots {
  readonly #limit: number;
  #used = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get used(): number {
    return this.#used;
  }

  /**
   * Takes a slot, and returns the function that frees it, once.
   *
   * @throws ServerError `too_busy`
   */
  enter(): () => void {
    if (this.#used >= this.#limit)
      throw new ServerError(
        'too_busy',
        `The server has ${this.#limit} simulations in progress, the most at once. Wait ${RETRY_SECONDS} s, and repeat the request.`,
        { evidence: { retry_after: RETRY_SECONDS }, retryable: true },
      );
    this.#used += 1;
    let isFree = false;
    return () => {
      if (isFree) return;
      isFree = true;
      this.#used -= 1;
    };
  }
}
