/** How slowly it is forgotten how many have asked at a time: by this part of the difference with each answer. */
const FORGOTTEN = 1 / 16;

/**
 * How many ask at a time for something to be written elsewhere, as far as was seen lately. When half of them wait, it is time to send what
 * they ask for: it is written while this process makes what the others will ask for, and neither side waits for the other. Who sends
 * less often lets both wait in turns, and who sends more often has more to sync.
 */
export class Askers {
  #seen = 1;

  /** So many are without an answer now. */
  asking(count: number): void {
    this.#seen = Math.max(this.#seen, count);
  }

  /** Some were answered, of so many. */
  answered(count: number): void {
    this.#seen -= (this.#seen - count) * FORGOTTEN;
  }

  /** Whether so many that wait are half of them. */
  areHalf(waiting: number): boolean {
    return waiting > 0 && waiting >= this.#seen / 2;
  }
}
