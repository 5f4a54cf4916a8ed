/**
 * A promise that records whether its result was requested, by `await` or otherwise. Derived
 * promises are ordinary ones.
 */
export class ObservedPromise<T> extends Promise<T> {
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  #isAsked = false;

  get isObserved(): boolean {
    return this.#isAsked;
  }

  // biome-ignore lint/suspicious/noThenProperty: the class must observe each call of `then`
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: any) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#isAsked = true;
    return super.then(onFulfilled, onRejected);
  }

  /**
   * The rejection is reported in another way if the promise is not awaited: it must not end the
   * process.
   */
  markHandled(): void {
    void super.then(undefined, () => undefined);
  }
}
