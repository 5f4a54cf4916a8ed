import { setImmediate as nextTurn } from 'node:timers/promises';

/** Steps of one turn. Together they take some milliseconds. */
const STEPS = 100;

/** Gives all other work of the process its turn between the steps of a long one. */
export class Turns {
  readonly #signal: AbortSignal | undefined;
  #steps = 0;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  /** Call once a step. Throws the reason of the signal, once it has ended. */
  async step(): Promise<void> {
    this.#signal?.throwIfAborted();
    this.#steps++;
    if (this.#steps % STEPS === 0) await nextTurn();
  }
}
