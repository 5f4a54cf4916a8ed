import { AsyncLocalStorage } from 'node:async_hooks';
import { OracleError } from './errors.ts';

/** The question whose call runs. */
const inside = new AsyncLocalStorage<Answering>();

/** A question while it is answered, and which others its call waits for: one that waits for itself would do so for ever. */
export class Answering {
  readonly #key: string;
  readonly #waitsFor = new Set<Answering>();

  constructor(key: string) {
    this.#key = key;
  }

  /** Runs what answers it; what that begins is taken for something that it waits for. */
  run<T>(make: () => T): T {
    return inside.run(this, make);
  }

  /**
   * The answer to this, for whoever asks.
   * @throws OracleError `asks_itself` where that is a call that this waits for itself; what `answer` throws
   */
  async awaited<T>(answer: Promise<T>): Promise<T> {
    const asker = inside.getStore();
    if (asker === undefined) return answer;
    if (this.#leadsTo(asker)) throw asksItself(this.#key);
    asker.#waitsFor.add(this);
    try {
      return await answer;
    } finally {
      asker.#waitsFor.delete(this);
    }
  }

  /** There are no circles yet, so that this ends. */
  #leadsTo(other: Answering): boolean {
    if (this === other) return true;
    for (const next of this.#waitsFor) if (next.#leadsTo(other)) return true;
    return false;
  }
}

function asksItself(key: string): OracleError {
  return new OracleError(
    'asks_itself',
    `The question ${key} is asked by the very call that answers it, and would wait for itself; give that call another question, or what it is to answer with.`,
    { evidence: { key } },
  );
}
