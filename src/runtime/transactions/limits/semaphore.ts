/** Has so many at a time at something, and no more; others wait, and come in the order in which they came to it. */
export class Doorway {
  readonly #max: number;
  #inside = 0;
  #waiting: (() => void)[] = [];
  /** Those before have come in. */
  #next = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** `visit` is given what lets the next one in, for who keeps nobody out any more before it is done. @throws what it throws */
  async through<T>(visit: (leave: () => void) => Promise<T>): Promise<T> {
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
