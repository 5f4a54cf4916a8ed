import { Askers } from '../askers.ts';

/** What is measured is followed by this part of the difference. */
const FOLLOWED = 1 / 16;

/** How much slower a call is taken to be at once, where it was: one may have waited for something else. */
const SLOWER = 5 / 4;

/** After so many calls it is looked again what one takes by itself, */
const LOOKED = 64;

/** where what is made takes at least this part of that: the first calls of a connection are slow. */
const DOUBTED = 1 / 4;

/** Halves are tried where they spare at least so many times what they cost, as both are measured roughly. */
const WORTH = 1.5;

/**
 * How many are written with one call at most. All who wait, as a rule, since each call takes the server some time by itself, however little
 * is in it. But those who are answered together also ask again together, and the server waits as long as this process makes what they ask
 * for. Where that takes longer than one more call does, half of them are written while the others are made.
 */
export class Pace {
  readonly #askers = new Askers();
  /** Milliseconds of a call with one job, which is about what it takes by itself, or less than a call took; undefined until there was any. */
  #call: number | undefined;
  #callsSince = 0;
  /** Milliseconds that this process takes for each who was answered, until all of them that go on have asked again. */
  #making = 0;

  /** So many are without an answer now. */
  asking(count: number): void {
    this.#askers.asking(count);
  }

  /** So many were without an answer until some of them were given one. */
  answered(count: number): void {
    this.#askers.answered(count);
  }

  /** A call with so many jobs took so many milliseconds. */
  called(ms: number, jobs: number): void {
    this.#callsSince += 1;
    const slower = jobs === 1 ? SLOWER : 1;
    this.#call = Math.min(ms, (this.#call ?? ms) * slower);
    if (jobs === 1) this.#callsSince = 0;
  }

  /** So many milliseconds were taken for what came after that many answers. */
  made(ms: number, answers: number): void {
    this.#making += (ms / answers - this.#making) * FOLLOWED;
  }

  get most(): number {
    const { seen, half } = this.#askers;
    const made = this.#making * seen;
    const call = this.#call ?? Number.POSITIVE_INFINITY;
    if (this.#callsSince >= LOOKED && made > call * DOUBTED) return 1;
    return made > WORTH * call ? half : Number.POSITIVE_INFINITY;
  }
}
