/** A small generator of Marsaglia's kind (xorshift32): the same seed, the same choices. */
export class Choices {
  #state: number;

  /** Two seeds that differ only in their last bit give the same choices. */
  constructor(seed: number) {
    this.#state = (seed ^ 0x9e3779b9) | 1;
  }

  /** A number from 0, below 1. */
  next(): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) / 2 ** 32;
  }

  /** A whole number from 0, below `count`. */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  oneOf<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  /** `count` different items in their order, or all if there are no more. */
  some<T>(list: readonly T[], count: number): T[] {
    if (list.length <= count) return [...list];
    const chosen = new Set<number>();
    while (chosen.size < count) chosen.add(this.below(list.length));
    return list.filter((_, i) => chosen.has(i));
  }
}
