/** Runs works one after the other, in the order of the calls. */
export class OneAtATime {
  #last: Promise<unknown> = Promise.resolve();

  /** A work whose signal has ended before its turn does not start. */
  run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const begun = this.#last.then(() => {
      signal.throwIfAborted();
      return work();
    });
    // The next work does not depend on this one.
    this.#last = begun.catch(() => undefined);
    return begun;
  }
}
