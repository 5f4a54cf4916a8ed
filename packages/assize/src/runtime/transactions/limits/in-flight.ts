import { setImmediate } from 'node:timers';
import type { Hash } from '#ledger';

/** A call that takes longer is not expected soon, so transactions do not wait for its answer. */
const SOON_MS = 10;

interface InFlightCall {
  readonly elapsedMs: number;
}

/** A call of a tool that has no answer yet. */
export interface OpenCall {
  readonly epoch: number;
  readonly tool: string;
  /** The key of the effect. */
  readonly key: Hash;
}

/**
 * Tool calls in flight. Transactions that start while answers are expected do so one per turn of
 * the event loop, in request order. A start takes long compared with the step after an answer: that
 * mostly makes the next call. So tools run while other transactions compute, and transactions that
 * were answered together do not stay in step. Without calls in flight there is no wait, and
 * transactions that start together are written together.
 */
export class InFlight {
  /** The calls with an answer that may come soon, the oldest first. */
  readonly #calls = new Set<InFlightCall>();
  /** Every call without an answer, also those whose answer is not expected soon. */
  readonly #open = new Map<InFlightCall, readonly OpenCall[]>();
  #waiting: (() => void)[] = [];

  started(call: InFlightCall, open: readonly OpenCall[]): void {
    this.#calls.add(call);
    this.#open.set(call, open);
  }

  ended(call: InFlightCall): void {
    this.#calls.delete(call);
    this.#open.delete(call);
  }

  /** The calls without an answer, the oldest first. */
  open(): OpenCall[] {
    return [...this.#open.values()].flat();
  }

  /** Resolves when a transaction may start. Returns undefined if it may start immediately. */
  waitTurn(): Promise<void> | undefined {
    if (this.#waiting.length === 0 && !this.#isExpecting()) return undefined;
    return new Promise((resolve) => {
      if (this.#waiting.length === 0) setImmediate(this.#next);
      this.#waiting.push(resolve);
    });
  }

  readonly #next = (): void => {
    // Without expected answers all start together; otherwise they would be written one by one.
    const goes = this.#isExpecting() ? 1 : this.#waiting.length;
    for (const begin of this.#waiting.splice(0, goes)) begin();
    if (this.#waiting.length > 0) setImmediate(this.#next);
  };

  #isExpecting(): boolean {
    for (const call of this.#calls) {
      if (call.elapsedMs < SOON_MS) return true;
      this.#calls.delete(call);
    }
    return false;
  }
}
