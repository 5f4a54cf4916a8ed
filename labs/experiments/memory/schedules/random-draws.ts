import { arg, checkArgument } from 'assize/internal/base';
import { ExperimentError } from './errors.ts';

/** How often something is done, or how long it is: a whole number from 1 to a million. */
export function requireCount(count: number, argument: string): void {
  checkArgument(COUNT, count, argument);
}

const COUNT_MAX = 1_000_000;
const COUNT = arg.of(
  `a whole number from 1 to ${COUNT_MAX}`,
  (value) =>
    Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= COUNT_MAX,
);

/**
 * The source of randomness, like `Random` of the oracle layer. The oracle layer's `seededRandom`
 * yields the same bytes for the same seed.
 */
export interface Bytes {
  bytes(count: number): Uint8Array;
}

/** The random draws of the experiments, from given bytes. */
export class RandomDraws {
  readonly #source: Bytes;
  #pool: Uint8Array = new Uint8Array(0);

  constructor(source: Bytes) {
    checkArgument(arg.members({ bytes: arg.code }), source, 'random');
    this.#source = source;
  }

  /** From 0, below 1: a multiple of 2^-32. */
  next(): number {
    if (this.#pool.length < 4) this.#pool = this.#draw();
    const [a, b, c, d] = this.#pool as unknown as [number, number, number, number];
    this.#pool = this.#pool.subarray(4);
    return (((a * 256 + b) * 256 + c) * 256 + d) / 2 ** 32;
  }

  /** A whole number from 0, below the count. */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  oneOf<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  /** True so often. */
  isSo(probability: number): boolean {
    return this.next() < probability;
  }

  /** The lists merged into one, each in its own order: any such order is as likely as any other. */
  merged<T>(lists: readonly (readonly T[])[]): T[] {
    const left = lists.map((list) => list.length);
    const out: T[] = [];
    for (let rest = left.reduce((sum, n) => sum + n, 0); rest > 0; rest--) {
      let nth = this.below(rest);
      const i = left.findIndex((n) => {
        nth -= n;
        return nth < 0;
      });
      out.push(lists[i]![lists[i]!.length - left[i]!]!);
      left[i]! -= 1;
    }
    return out;
  }

  #draw(): Uint8Array {
    const given = this.#source.bytes(BLOCK);
    if (given instanceof Uint8Array && given.length === BLOCK) return given;
    throw new ExperimentError('bad_random', `A source of randomness must return ${BLOCK} bytes.`, {
      evidence: { asked: BLOCK, given: (given as { length?: unknown } | undefined)?.length },
    });
  }
}

/** The bytes of one request; a multiple of 4. */
const BLOCK = 4_096;
