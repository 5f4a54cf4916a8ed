/** Transactions of which it is kept at once: of the oldest it goes first. */
const TRANSACTIONS_MAX = 1_000;

/**
 * What tools threw last, of effects that wait for a person: told to who asks this process, and written nowhere, as it may say what must
 * not be in a ledger.
 */
export class Thrown {
  readonly #byEpoch = new Map<number, Map<number, unknown>>();

  note(epoch: number, n: number, error: unknown): void {
    if (error === undefined) return;
    const errors = this.#byEpoch.get(epoch) ?? new Map<number, unknown>();
    errors.set(n, error);
    this.#byEpoch.set(epoch, errors);
    const [oldest] = this.#byEpoch.keys();
    if (this.#byEpoch.size > TRANSACTIONS_MAX) this.#byEpoch.delete(oldest as number);
  }

  /** Undefined where another process has called it, or it was too long ago. */
  of(epoch: number, n: number): unknown {
    return this.#byEpoch.get(epoch)?.get(n);
  }

  /** It has ended. */
  drop(epoch: number): void {
    this.#byEpoch.delete(epoch);
  }
}
