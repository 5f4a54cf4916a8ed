import { Askers } from '../../callers-in-flight.ts';

/** What is measured is followed by this part of the difference. */
const FOLLOWED = 1 / 16;

/** One measurement counts for so many times what was measured before at most: the process, or its machine, may have stood still. */
const OUTLIER = 4;

/** How much slower or faster a call is taken to be at once, where it was: one may have waited for something else. */
const SLOWER = 5 / 4;
const FASTER = 1 / 2;

/** After so many calls it is looked again what one takes by itself. */
const LOOKED = 64;

/** That is not looked at where what is made takes less than this part of it. The first calls of a connection are slow, so that this is far below 1. */
const LOOKED_FROM = 1 / 4;

/** Halves are tried where they spare at least so many times what they cost, as both are measured roughly. */
const WORTH = 1.5;

/**
 * How many are written with one call. All who wait, as a rule, since each call takes the server some time by itself, however little
 * is in it. But those who are answered together also ask again together, and the server waits as long as this process makes what they ask
 * for. Where that takes longer than one more call does, half of them are written while the others are made.
 */
export class Pace {
  readonly #askers = new Askers();
  /** Milliseconds of a call with one job, which is about what any takes by itself; none took less. Undefined until there was a call. */
  #call: number | undefined;
  #callsSince = 0;
  /** Milliseconds that this process takes for each who was answered, until all of them that go on have asked again. */
  #making = 0;

  /** So many are without an answer now. */
  asking(count: number): void {
    this.#askers.asking(count);
  }

  /** Some are answered, of so many. */
  answered(count: number): void {
    this.#askers.answered(count);
  }

  /** A call with so many jobs is made; whatever comes of it, the next one is not made for its sake. */
  sent(jobs: number): void {
    this.#callsSince = jobs === 1 ? 0 : this.#callsSince + 1;
  }

  /** It took the server so many milliseconds to write them. */
  called(ms: number, jobs: number): void {
    const before = this.#call ?? ms;
    this.#call = Math.max(before * FASTER, Math.min(ms, jobs === 1 ? before * SLOWER : before));
  }

  /** So many milliseconds were taken for what came after that many answers. */
  made(ms: number, answers: number): void {
    const most = OUTLIER * Math.max(this.#making, this.#call ?? ms);
    this.#making += (Math.min(ms / answers, most) - this.#making) * FOLLOWED;
  }

  /** With so many who wait, a call is made without waiting for more. */
  get enough(): number {
    if (this.#isToLook) return 1;
    const { seen, half } = this.#askers;
    return this.#making * seen > WORTH * this.#taken ? half : Number.POSITIVE_INFINITY;
  }

  /** How many of those who wait a call is made for. One more than half of them go along, as that one would have a call of its own. */
  take(waiting: number): number {
    const { enough } = this;
    if (this.#isToLook) return Math.min(waiting, 1);
    return waiting <= enough + 1 ? waiting : enough;
  }

  /** Whether one is written alone, to see what a call takes. */
  get #isToLook(): boolean {
    return this.#callsSince >= LOOKED && this.#making * this.#askers.seen > this.#taken * LOOKED_FROM;
  }

  get #taken(): number {
    return this.#call ?? Number.POSITIVE_INFINITY;
  }
}
