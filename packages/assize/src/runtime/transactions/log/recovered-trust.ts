import type { Hash } from '#ledger';
import type { CallKind } from './call-record.ts';

/**
 * The calls that a recovered transaction may make. Each needs a cause outside of the database's
 * rows: rows under the runtime's MAC, the commit in the ledger, or a decision of an operator.
 */
export class RecoveredTrust {
  readonly #isAuthentic: boolean;
  /** The keys of the calls that the commit names. */
  readonly #committed: ReadonlySet<Hash>;
  /** The effects that an operator has decided on in this process. */
  readonly #decided = new Set<number>();

  constructor(isAuthentic: boolean, committed: ReadonlySet<Hash>) {
    this.#isAuthentic = isAuthentic;
    this.#committed = committed;
  }

  /** Called when an operator has decided on the effect `n`. */
  decide(n: number): void {
    this.#decided.add(n);
  }

  /** Whether the effect `n` with that key may be called or compensated. */
  allows(n: number, key: Hash, how: CallKind): boolean {
    return (
      this.#isAuthentic || this.#decided.has(n) || (how === 'call' && this.#committed.has(key))
    );
  }

  /** Whether the commit for a failure of the effect `n` may be proposed. */
  allowsOnFailure(n: number): boolean {
    return this.#isAuthentic || this.#decided.has(n);
  }
}
