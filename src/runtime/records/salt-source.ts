import type { Hash } from '#ledger';
import type { Random } from '#oracle';

/**
 * The chance of what is judged anew behind one head, because something had to be read first or was changed elsewhere: it is the same again, so that
 * how often that happened does not show in the entry, and a replay, which reads at other times, makes the same one.
 */
export class Chance implements Random {
  readonly #random: Random;
  #head: Hash | null | undefined;
  #drawn: Uint8Array[] = [];
  #next: number = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** From the beginning, of what is ruled on behind this head. */
  from(head: Hash | null): this {
    if (head !== this.#head) this.#drawn = [];
    this.#head = head;
    this.#next = 0;
    return this;
  }

  bytes(count: number): Uint8Array {
    const again = this.#drawn[this.#next];
    // Another number of them is of something else that is drawn for.
    if (again?.length !== count) this.#drawn.splice(this.#next, Number.POSITIVE_INFINITY, this.#random.bytes(count));
    return Uint8Array.from(this.#drawn[this.#next++] as Uint8Array);
  }
}
