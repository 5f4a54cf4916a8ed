/** A semaphore: limits the number of concurrent visits. Others wait in order of arrival. */
export class Semaphore {
  readonly #max: number;
  #inside = 0;
  #waiting: (() => void)[] = [];
  /** The index of the next waiting visit. */
  #next = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /**
   * `visit` receives a function that admits the next visit early, before this one ends. @throws the
   * errors of `visit`
   */
  async run<T>(visit: (leave: () => void) => Promise<T>): Promise<T> {
    if (this.#inside < this.#max) this.#inside += 1;
    else await new Promise<void>((comeIn) => this.#waiting.push(comeIn));
    let isInside = true;
    const leave = (): void => {
      if (isInside) this.#letNextIn();
      isInside = false;
    };
    try {
      return await visit(leave);
    } finally {
      leave();
    }
  }

  #letNextIn(): void {
    const comeIn = this.#waiting[this.#next];
    if (comeIn === undefined) {
      this.#inside -= 1;
      return;
    }
    this.#next += 1;
    if (this.#next === this.#waiting.length) {
      this.#waiting = [];
      this.#next = 0;
    }
    comeIn();
  }
}
