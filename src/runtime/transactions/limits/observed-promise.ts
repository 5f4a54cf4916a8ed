/**
 * A promise that knows whether anybody has asked what becomes of it, by `await` or else. What is made of it is an ordinary one.
 */
export class AskedPromise<T> extends Promise<T> {
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  #isAsked = false;

  get isAsked(): boolean {
    return this.#isAsked;
  }

  // biome-ignore lint/suspicious/noThenProperty: whoever asks a promise calls that
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: any) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#isAsked = true;
    return super.then(onFulfilled, onRejected);
  }

  /** Its failure is told in another way where nobody asks: the process is not to end by it. */
  toldElsewhere(): void {
    void super.then(undefined, () => undefined);
  }
}
