import type { Holding, Together } from '#effects';

/** What one transaction holds at the places of its tools, where nobody else sees it; all of it ends with the transaction. */
export class Holdings {
  readonly #open = new Map<object, Holding>();

  /** At the place of a tool that holds; it begins with the first call. */
  at({ at, hold }: Together): Holding {
    const open = this.#open.get(at) ?? hold!();
    this.#open.set(at, open);
    return open;
  }

  /** Where it has begun. */
  known(at: object): Holding | undefined {
    return this.#open.get(at);
  }

  /** For who commits it, which ends it. */
  take(at: object): Holding | undefined {
    const open = this.#open.get(at);
    this.#open.delete(at);
    return open;
  }

  /** Takes back what was not committed. */
  async end(): Promise<void> {
    const open = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(open.map((each) => each.end()));
  }
}
