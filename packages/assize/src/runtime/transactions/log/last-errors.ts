/** Maximum number of transactions in the cache. The oldest is evicted first. */
const TRANSACTIONS_MAX = 1_000;

/**
 * The last errors of tools, for unresolved effects. Callers in this process can read them. They are
 * never written, because they can contain data that a ledger must not store.
 */
export class LastErrors {
  readonly #byEpoch = new Map<number, Map<number, unknown>>();

  set(epoch: number, n: number, error: unknown): void {
    if (error === undefined) return;
    const errors = this.#byEpoch.get(epoch) ?? new Map<number, unknown>();
    errors.set(n, error);
    this.#byEpoch.set(epoch, errors);
    const [oldest] = this.#byEpoch.keys();
    if (this.#byEpoch.size > TRANSACTIONS_MAX) this.#byEpoch.delete(oldest as number);
  }

  /** Undefined if another process made the call or the error was evicted. */
  get(epoch: number, n: number): unknown {
    return this.#byEpoch.get(epoch)?.get(n);
  }

  /** Called when the transaction has ended. */
  delete(epoch: number): void {
    this.#byEpoch.delete(epoch);
  }
}
