import { type Instant, instantToMillis } from 'assize/internal/canon';
import type { Hash } from 'assize/internal/ledger';
import type { Example } from './tally.ts';

/** A proposal, or an effect in doubt, that waits for a person. */
export interface Waiting {
  readonly since: Instant;
  readonly expires?: Instant;
  readonly isEffect: boolean;
  readonly example: Example;
}

/**
 * The open proposals while the log is read, and the times that people took. An approval that is not
 * the last continues the proposal under its own entry.
 */
export class Decisions {
  readonly #open: Map<Hash, Waiting> = new Map();
  readonly #millis: number[] = [];

  /** Adds a pending entry. `resolves`: the pending entry that it continues. */
  open(id: Hash, waiting: Waiting, resolves: Hash | undefined): void {
    const before = resolves === undefined ? undefined : this.#open.get(resolves);
    if (resolves !== undefined) this.#open.delete(resolves);
    this.#open.set(id, before === undefined ? waiting : { ...waiting, since: before.since });
  }

  /** Ends a pending entry. Returns the milliseconds since its proposal, if it is known. */
  close(id: Hash, at: Instant): number | undefined {
    const waiting = this.#open.get(id);
    this.#open.delete(id);
    return waiting === undefined ? undefined : instantToMillis(at) - instantToMillis(waiting.since);
  }

  /** Counts the time that a decision of the period took. */
  countTime(millis: number): void {
    this.#millis.push(millis);
  }

  /** The proposals and effects that are still open. */
  waiting(): readonly Waiting[] {
    return [...this.#open.values()];
  }

  /** The median (the lower one of two) and the longest time. Undefined without a decision. */
  times(): { readonly median: number; readonly longest: number } | undefined {
    if (this.#millis.length === 0) return undefined;
    const sorted = [...this.#millis].sort((one, other) => one - other);
    return { median: sorted[(sorted.length - 1) >> 1] as number, longest: sorted.at(-1) as number };
  }
}
