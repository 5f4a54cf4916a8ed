/** A call that takes longer is not waited for: whoever goes on with its answer would hardly have been sooner. */
const SOON_MS = 10;

interface InFlightCall {
  readonly elapsedMs: number;
}

/**
 * Calls of tools that have not answered, and who lets those go first who wait for them. To begin a transaction is long, beside what goes
 * on with an answer, which mostly is to make the next call. So transactions that would begin while answers are expected do so one in each
 * turn of the event loop, in the order in which they ask: tools are at work then while others compute, and many who were answered at
 * once do not go on in step for ever. With nothing in flight nobody waits: what is asked for together is written together.
 */
export class InFlight {
  /** The oldest first; as far as an answer may come soon. */
  readonly #calls = new Set<InFlightCall>();
  #waiting: (() => void)[] = [];

  made(call: InFlightCall): void {
    this.#calls.add(call);
  }

  over(call: InFlightCall): void {
    this.#calls.delete(call);
  }

  /** When a transaction may begin; undefined for at once. */
  turn(): Promise<void> | undefined {
    if (this.#waiting.length === 0 && !this.#isExpecting()) return undefined;
    return new Promise((resolve) => {
      if (this.#waiting.length === 0) setImmediate(this.#next);
      this.#waiting.push(resolve);
    });
  }

  readonly #next = (): void => {
    // The rest waits for nobody, and would be written one by one.
    const goes = this.#isExpecting() ? 1 : this.#waiting.length;
    for (const begin of this.#waiting.splice(0, goes)) begin();
    if (this.#waiting.length > 0) setImmediate(this.#next);
  };

  #isExpecting(): boolean {
    for (const call of this.#calls) {
      if (call.elapsedMs < SOON_MS) return true;
      this.#calls.delete(call);
    }
    return false;
  }
}
