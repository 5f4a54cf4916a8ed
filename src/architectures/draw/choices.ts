/** A small generator of Marsaglia's kind (xorshift32): the same seed, the same choices. */
export class Choices {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed ^ 0x9e3779b9) | 1;
  }

  /** From 0, below 1. */
  next(): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) / 2 ** 32;
  }

  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  oneOf<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  /** As many as are asked for, in their order. */
  some<T>(list: readonly T[], count: number): T[] {
    if (list.length <= count) return [...list];
    const chosen = new Set<number>();
    while (chosen.size < count) chosen.add(this.below(list.length));
    return list.filter((_, i) => chosen.has(i));
  }
}
