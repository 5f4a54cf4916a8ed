import { type Call, EffectError, type HeldCall, type Holding, type Together } from '#effects';

/**
 * What one transaction holds at the places of its tools, where nobody else sees it; all of it ends with the transaction.
 *
 * @experimental Staged SQL may change in any release.
 */
export class Holdings {
  /** By place. Undefined with none, as of most transactions. */
  #open: Map<object, Holding> | undefined;
  #hasEnded = false;

  /** At the place of a tool that holds; it begins with the first call. @throws EffectError `transaction_over` */
  at({ at, hold }: Together): Holding {
    if (this.#hasEnded)
      throw new EffectError('transaction_over', 'The transaction has ended; nothing is held for it any more.');
    this.#open ??= new Map();
    const open = this.#open.get(at) ?? hold!();
    this.#open.set(at, open);
    return open;
  }

  /** Where it has begun. */
  known(at: object): Holding | undefined {
    return this.#open?.get(at);
  }

  /** Has each go back to what is to stand there. */
  async back(wantedAt: (at: object) => readonly HeldCall[]): Promise<void> {
    for (const [at, open] of this.#open ?? []) await open.back?.(wantedAt(at));
  }

  /** Something was done at once, or undone: what was let go for it is done again. @throws EffectError `stale` */
  async again(wantedAt: (at: object) => readonly HeldCall[], call: Pick<Call, 'signal' | 'epoch'>): Promise<void> {
    for (const [at, open] of this.#open ?? []) await open.again?.(wantedAt(at), call);
  }

  /** For who commits it, which ends it. */
  take(at: object): Holding | undefined {
    const open = this.#open?.get(at);
    this.#open?.delete(at);
    return open;
  }

  /** Takes back what was not committed. Undefined where there is nothing to wait for. */
  end(): Promise<void> | undefined {
    this.#hasEnded = true;
    if (this.#open === undefined || this.#open.size === 0) return undefined;
    const open = [...this.#open.values()];
    this.#open.clear();
    return Promise.all(open.map((each) => each.end())).then(() => undefined);
  }

  /** What comes of that, when what is left then is taken back. */
  async ended<T>(made: Promise<T>): Promise<T> {
    try {
      return await made;
    } finally {
      await this.end();
    }
  }

  get areNone(): boolean {
    return this.#open === undefined;
  }
}
