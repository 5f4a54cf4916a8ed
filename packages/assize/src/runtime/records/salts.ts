import { hashText, plainText } from '#canon';
import type { Hash } from '#ledger';
import { type Random, systemRandom } from '#oracle';

/** Returns a new salt, 32 hex digits. */
export type SaltGenerator = () => string;

const SALT_BYTES = 16;

/** Salts that are the drawn bytes themselves. For randomness that is used nowhere else. */
export function randomSalts(random: Random): SaltGenerator {
  return () => randomHex(random, SALT_BYTES);
}

/**
 * Salts for values at one place of a store, each derived from drawn bytes and that place. A store
 * keeps each blob once under its hash. With equal salts, two equal values would share one blob, and
 * erasing one would erase the other.
 *
 * Two runtimes with the same seed draw the same bytes, but they never write different values at one
 * place. Of two writers on the same head one is accepted, and two calls with one key are one call
 * to their sink as well. The salt is still a function of the seed and of the history, so the same
 * history makes the same ledger. The system's own generator never repeats, so it needs no place.
 */
export function positionedSalts(random: Random, ...place: readonly string[]): SaltGenerator {
  const drawn = randomSalts(random);
  if (random === systemRandom) return drawn;
  return () => hashText(plainText(['assize/salt/v1', drawn(), ...place])).slice(0, 2 * SALT_BYTES);
}

/**
 * The randomness for repeated adjudications on one head, after a read or a foreign change. Each
 * repetition draws the same values. So the number of repetitions does not show in the entry, and a
 * replay that reads at other times makes the same entry.
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
    if (again?.length !== count)
      this.#drawn.splice(this.#next, Number.POSITIVE_INFINITY, this.#random.bytes(count));
    return Uint8Array.from(this.#drawn[this.#next++] as Uint8Array);
  }
}

/** Fresh bytes, in lower-case hex. */
export function randomHex(random: Random, count: number): string {
  const bytes = random.bytes(count);
  // Uses one shared buffer, because allocating one takes as long as the rest. A value that is not a
  // byte array would leave the previous random bytes in the buffer.
  if (!(bytes instanceof Uint8Array) || bytes.length > written.length)
    return Buffer.from(bytes).toString('hex');
  written.set(bytes);
  return written.toString('hex', 0, bytes.length);
}

const written = Buffer.alloc(64);
