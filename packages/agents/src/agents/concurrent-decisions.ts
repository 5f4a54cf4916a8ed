import type { Hash } from 'assize/internal/ledger';
import type { RecordedDecision } from './decide.ts';

/** A decision, and the head of its slice. */
export interface Invoked {
  readonly decided: RecordedDecision;
  readonly invoked: Hash;
}

type Arrival = { readonly name: string } & (
  | { readonly invoked: Invoked }
  | { readonly error: unknown }
);

/** Agents that decide concurrently, and the order of their decisions. */
export class ConcurrentDecisions {
  /** All agents with an open decision. */
  readonly #names: Set<string> = new Set();
  readonly #arrived: Arrival[] = [];
  #ring: () => void = () => undefined;

  has(name: string): boolean {
    return this.#names.has(name);
  }

  begin(name: string, deciding: Promise<Invoked>): void {
    this.#names.add(name);
    const arrive = (arrival: Arrival): void => {
      this.#arrived.push(arrival);
      this.#ring();
    };
    deciding.then(
      (invoked) => arrive({ name, invoked }),
      (error: unknown) => arrive({ name, error }),
    );
  }

  /** Waits for a decision. Returns false if no agent is deciding, or if the signal came first. */
  async waitForAny(signal: AbortSignal | undefined): Promise<boolean> {
    if (this.#arrived.length > 0) return true;
    if (this.#names.size === 0 || signal?.aborted) return false;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ring = resolve;
    signal?.addEventListener('abort', resolve as () => void, { once: true });
    await promise;
    signal?.removeEventListener('abort', resolve as () => void);
    return this.#arrived.length > 0;
  }

  /** The agents that have decided, in order of arrival. @throws the error of one of them */
  finished(): string[] {
    for (const arrival of this.#arrived) if ('error' in arrival) throw arrival.error;
    return this.#arrived.map(({ name }) => name);
  }

  /** Removes and returns the decision of an agent that has decided. */
  take(name: string): Invoked {
    const [arrival] = this.#arrived.splice(
      this.#arrived.findIndex((one) => one.name === name),
      1,
    );
    this.#names.delete(name);
    return (arrival as { readonly invoked: Invoked }).invoked;
  }
}
