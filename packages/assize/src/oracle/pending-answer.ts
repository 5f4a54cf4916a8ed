import { AsyncLocalStorage } from 'node:async_hooks';
import { OracleError } from './errors.ts';

/** The question of the running call. */
const inside = new AsyncLocalStorage<PendingAnswer>();

/**
 * A question in progress, with the other questions that its call waits for. A question that waits
 * for itself would never end.
 */
export class PendingAnswer {
  readonly #key: string;
  readonly #waitsFor = new Set<PendingAnswer>();

  constructor(key: string) {
    this.#key = key;
  }

  /** Runs the call of this question. Questions that start inside count as dependencies of it. */
  run<T>(make: () => T): T {
    return inside.run(this, make);
  }

  /**
   * The answer to this question, for every caller.
   *
   * @throws OracleError `misuse` if the call waits for itself; the errors of `answer`
   */
  async wait<T>(answer: Promise<T>): Promise<T> {
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

  /** There are no cycles yet, so the search ends. */
  #leadsTo(other: PendingAnswer): boolean {
    if (this === other) return true;
    for (const next of this.#waitsFor) if (next.#leadsTo(other)) return true;
    return false;
  }
}

function asksItself(key: string): OracleError {
  return new OracleError(
    'misuse',
    `The question ${key} is asked by the call that answers it. Ask another question in that call.`,
    { evidence: { key } },
  );
}
