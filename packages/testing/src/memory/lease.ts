import type { Lease } from 'assize/internal/ledger';

/** Exclusive leases on the effect log of a store in memory, in the order of the requests. */
export class Leases {
  readonly #waiting: (() => void)[] = [];
  readonly #closing = new AbortController();
  #isHeld = false;

  /**
   * `raise` raises the fence. @throws the reason of the signal or of `refuse`, or the error of
   * `raise`
   */
  async acquire(
    raise: () => Promise<Pick<Lease, 'fence' | 'lastEpoch'>>,
    signal?: AbortSignal,
  ): Promise<Lease> {
    const waiting = AbortSignal.any([
      this.#closing.signal,
      ...(signal === undefined ? [] : [signal]),
    ]);
    waiting.throwIfAborted();
    if (this.#isHeld) await this.#turn(waiting);
    this.#isHeld = true;
    let isMine = true;
    const release = async (): Promise<void> => {
      if (isMine) this.#pass();
      isMine = false;
    };
    try {
      const given = await raise();
      waiting.throwIfAborted();
      return { ...given, isWanted: () => this.#waiting.length > 0, release };
    } catch (error) {
      await release();
      throw error;
    }
  }

  /** Ends every wait with the reason. No lease is given from now on. */
  refuse(reason: Error): void {
    this.#closing.abort(reason);
  }

  // The previous holder hands the lock directly to the next waiter, so no other caller can acquire
  // it in between.
  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(signal.reason);
      };
      this.#waiting.push(begin);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  #pass(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#isHeld = false;
    else next();
  }
}
