/** Lets callers in together, or one alone. Callers that arrive during a wait queue behind it. */
export class TurnGate {
  #inside = 0;
  #isAlone = false;
  readonly #waiting: { readonly alone: boolean; readonly enter: () => void }[] = [];

  /** Resolves to the function that leaves. */
  enter(): Promise<() => void> {
    return this.#enter(false);
  }

  enterAlone(): Promise<() => void> {
    return this.#enter(true);
  }

  #enter(alone: boolean): Promise<() => void> {
    return new Promise((resolve) => {
      this.#waiting.push({ alone, enter: () => resolve(() => this.#leave(alone)) });
      this.#next();
    });
  }

  #leave(alone: boolean): void {
    this.#inside -= 1;
    if (alone) this.#isAlone = false;
    this.#next();
  }

  #next(): void {
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      if (this.#isAlone || (first.alone && this.#inside > 0)) return;
      this.#waiting.shift();
      this.#inside += 1;
      this.#isAlone = first.alone;
      first.enter();
    }
  }
}
