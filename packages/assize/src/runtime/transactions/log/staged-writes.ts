import {
  type AtomicBatch,
  type CallContext,
  EffectError,
  type StagedCall,
  type StagedTransaction,
} from '#effects';

/**
 * The staged writes of one transaction at the sinks of its tools, invisible to others. They end
 * with the transaction.
 *
 * @experimental Staged SQL may change in any release.
 */
export class StagedWrites {
  /** By sink. Undefined if there are none, as in most transactions. */
  #open: Map<object, StagedTransaction> | undefined;
  #hasEnded = false;

  /**
   * The staged writes at the sink of a tool, started with the first call. @throws EffectError
   * `transaction_over`
   */
  at({ at, stage }: AtomicBatch): StagedTransaction {
    if (this.#hasEnded)
      throw new EffectError(
        'transaction_over',
        'The transaction has ended and stages no more writes. Start a new transaction.',
      );
    this.#open ??= new Map();
    const open = this.#open.get(at) ?? stage!();
    this.#open.set(at, open);
    return open;
  }

  /** The staged writes at a sink, if they have started. */
  find(at: object): StagedTransaction | undefined {
    return this.#open?.get(at);
  }

  /** Rolls each sink back to the given calls. */
  async rollbackTo(wantedAt: (at: object) => readonly StagedCall[]): Promise<void> {
    for (const [at, open] of this.#open ?? []) await open.rollbackTo?.(wantedAt(at));
  }

  /**
   * Repeats the staged writes that yielded to an immediate effect or its compensation. @throws
   * EffectError `stale`
   */
  async replay(
    wantedAt: (at: object) => readonly StagedCall[],
    call: Pick<CallContext, 'signal' | 'epoch'>,
  ): Promise<void> {
    for (const [at, open] of this.#open ?? []) await open.replay?.(wantedAt(at), call);
  }

  /** Hands the staged writes to the caller. The caller commits them and so ends them. */
  take(at: object): StagedTransaction | undefined {
    const open = this.#open?.get(at);
    this.#open?.delete(at);
    return open;
  }

  /** Rolls back uncommitted writes. Returns undefined if there is nothing to wait for. */
  rollback(): Promise<void> | undefined {
    this.#hasEnded = true;
    if (this.#open === undefined || this.#open.size === 0) return undefined;
    const open = [...this.#open.values()];
    this.#open.clear();
    return Promise.all(open.map((each) => each.rollback())).then(() => undefined);
  }

  /** Returns the result of the promise after the remaining writes are rolled back. */
  async ended<T>(made: Promise<T>): Promise<T> {
    try {
      return await made;
    } finally {
      await this.rollback();
    }
  }

  get isEmpty(): boolean {
    return this.#open === undefined;
  }
}
