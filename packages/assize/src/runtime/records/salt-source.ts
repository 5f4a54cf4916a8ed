import type { Hash } from '#ledger';
import type { Random } from '#oracle';

/**
 * The randomness for repeated adjudications on one head, after a read or a foreign change. Each
 * repetition draws the same values. So the number of repetitions does not show in the entry, and a
 * replay, which reads at other times, makes the same entry.
 */
export class SaltSource implements Random {
  readonly #random: Random;
  #head: Hash | null | undefined;
  #drawn: Uint8Array[] = [];
  #next: number = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Starts over, for a ruling on this head. */
  restartAt(head: Hash | null): this {
    if (head !== this.#head) this.#drawn = [];
    this.#head = head;
    this.#next = 0;
    return this;
  }

  bytes(count: number): Uint8Array {
    const again = this.#drawn[this.#next];
    // Another count means another purpose, so the drawn value does not fit.
    if (again?.length !== count) this.#drawn.splice(this.#next, Number.POSITIVE_INFINITY, this.#random.bytes(count));
    return Uint8Array.from(this.#drawn[this.#next++] as Uint8Array);
  }
}
