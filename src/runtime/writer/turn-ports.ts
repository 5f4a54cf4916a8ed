import type { Hash, Instant } from '#ledger';
import type { Clock, Random } from '#oracle';
import { drawnSalts, type Salting, saltsAt } from '../records/payload-blobs.ts';

/** Time and chance of one turn: whoever has them again makes the same entries again. */
export interface TurnPorts {
  /** Entries are of this time, or of the head's where that is later. */
  readonly at: Instant;
  /** The chance of what is ruled on behind a head: what has to be judged anew on another one does not go on with it. */
  readonly random: (head: Hash) => Random;
  /** Entries have the hashes of observed answers in place, as those of turns have that were recorded before these were salted. */
  readonly unsalted?: boolean;
}

/** The clock and chance of one trajectory: the runtime's own, but during a turn that brings its own. */
export class Ports {
  readonly clock: Clock;
  readonly random: Random;
  readonly #id: string;
  readonly #head: () => Hash;
  #turn: TurnPorts | undefined;
  #drawing: { readonly head: Hash; readonly random: Random } | undefined;

  constructor(id: string, clock: Clock, random: Random, head: () => Hash) {
    this.#head = head;
    this.clock = { now: () => this.#turn?.at ?? clock.now() };
    this.random = { bytes: (count) => (this.#turn === undefined ? random : this.#random(this.#turn)).bytes(count) };
    this.#id = id;
  }

  /** For what is kept by the next entry, drawn by that chance. */
  readonly saltsOf = (random: Random): Salting => {
    // The chance of a turn is of the head already.
    const drawn = drawnSalts(random);
    return () => (this.#turn === undefined ? saltsAt(random, this.#id, this.#head())() : drawn());
  };

  get unsalted(): boolean {
    return this.#turn?.unsalted === true;
  }

  /** Whether what is proposed is of a turn. */
  get isTurn(): boolean {
    return this.#turn !== undefined;
  }

  async during<T>(turn: TurnPorts, step: () => Promise<T>): Promise<T> {
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
