import type { Hash, Instant } from '#ledger';
import { type Clock, type Random, systemRandom } from '#oracle';
import { positionedSalts, randomSalts, type SaltGenerator } from '../records/salts.ts';

/** Time and randomness of one turn. The same values make the same entries again. */
export interface TurnPorts {
  /** The time of entries; the head's time if that is later. */
  readonly at: Instant;
  /**
   * The randomness for rulings on a given head. A proposal that is adjudicated again on another
   * head starts a new sequence.
   */
  readonly random: (head: Hash) => Random;
  /**
   * Entries contain the hashes of observed answers unsalted, as in turns recorded before salting
   * was introduced.
   */
  readonly unsalted?: boolean;
}

/**
 * The clock and randomness of one trajectory: the runtime's own, except during a turn that supplies
 * its own.
 */
export class TurnScopedPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly #id: string;
  readonly #head: () => Hash;
  readonly #isSystem: boolean;
  #turn: TurnPorts | undefined;
  #drawing: { readonly head: Hash; readonly random: Random } | undefined;

  constructor(id: string, clock: Clock, random: Random, head: () => Hash) {
    this.#head = head;
    this.#isSystem = random === systemRandom;
    this.clock = { now: () => this.#turn?.at ?? clock.now() };
    this.random = {
      bytes: (count) => (this.#turn === undefined ? random : this.#random(this.#turn)).bytes(count),
    };
    this.#id = id;
  }

  /** The salts for blobs of the next entry, drawn from that randomness. */
  readonly saltGenerator = (random: Random): SaltGenerator => {
    // The randomness of a turn already depends on the head, and that of the system never repeats.
    const drawn = randomSalts(random);
    if (this.#isSystem) return drawn;
    return () =>
      this.#turn === undefined ? positionedSalts(random, this.#id, this.#head())() : drawn();
  };

  get unsalted(): boolean {
    return this.#turn?.unsalted === true;
  }

  /** Whether proposals belong to a turn. */
  get isTurn(): boolean {
    return this.#turn !== undefined;
  }

  async withTurn<T>(turn: TurnPorts, step: () => Promise<T>): Promise<T> {
    this.#turn = turn;
    try {
      return await step();
    } finally {
      this.#turn = undefined;
      this.#drawing = undefined;
    }
  }

  #random(turn: TurnPorts): Random {
    const head = this.#head();
    if (this.#drawing?.head !== head) this.#drawing = { head, random: turn.random(head) };
    return this.#drawing.random;
  }
}
