/** The requests without an answer, which a stop of the server can answer. */
export class OpenRequests {
  readonly #rejects: Set<(error: Error) => void> = new Set();

  /** Resolves with the work, or rejects when the requests are ended. The work then continues. */
  run<T>(work: Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#rejects.add(reject);
    const settled = () => this.#rejects.delete(reject);
    work.then(resolve, reject).finally(settled);
    return promise;
  }

  /** Answers every open request with the error. */
  end(error: Error): void {
    for (const reject of this.#rejects) reject(error);
    this.#rejects.clear();
  }
}
