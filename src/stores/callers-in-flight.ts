/** How slowly it is forgotten how many have asked: by this part of the difference with each answer. */
const FORGOTTEN = 1 / 16;

/**
 * How many ask at a time for something to be written elsewhere, as far as was seen lately. When half of them wait, and what they are to
 * have is sent, it is written while this process makes what the others will ask for, and neither side waits for the other. Who sends less
 * often lets both wait in turns, and who sends more often has more to sync.
 */
export class Askers {
  #seen = 1;

  /** So many are without an answer now. */
  asking(count: number): void {
    this.#seen = Math.max(this.#seen, count);
  }

  /** Some were answered; so many were without an answer until then. */
  answered(count: number): void {
    this.#seen -= (this.#seen - count) * FORGOTTEN;
  }

  /** How many they are, with a part of one that is being forgotten. */
  get seen(): number {
    return this.#seen;
  }

  /**
   * So many are half of them, at least one. Of an odd number the smaller half: where somebody asks beside them now and then, as who tells
   * what has settled, one half would else have to wait for one of the other, each time.
   */
  get half(): number {
    return Math.max(1, Math.floor(Math.round(this.#seen) / 2));
  }
}
