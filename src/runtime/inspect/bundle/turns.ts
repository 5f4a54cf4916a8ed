import { setImmediate as nextTurn } from 'node:timers/promises';

/** Steps of one turn. Together they take some milliseconds. */
const STEPS = 100;

/** Gives all other work of the process its turn between the steps of a long one. */
export class Turns {
  #steps = 0;

  /** Call once a step. */
  async step(): Promise<void> {
    this.#steps++;
    if (this.#steps % STEPS === 0) await nextTurn();
  }
}
