import { CallersInFlight } from 'assize/internal/stores/callers-in-flight.ts';

/** The smoothing factor of measured averages. */
const FOLLOWED = 1 / 16;

/**
 * The maximum factor by which one measurement can exceed the earlier average. The process or its
 * machine may have been suspended.
 */
const OUTLIER = 4;

/**
 * The factors by which one measurement can raise or lower the estimate of a call. The call may have
 * waited for another cause.
 */
const SLOWER = 5 / 4;
const FASTER = 1 / 2;

/** The number of calls after which the duration of a single-job call is measured again. */
const LOOKED = 64;

/**
 * The part of a call's duration below which preparation is too short to measure again. The value is
 * far below 1, because the first calls of a connection are slow.
 */
const LOOKED_FROM = 1 / 4;

/**
 * The minimum ratio of saved time to cost for splitting into halves, because both are measured
 * roughly.
 */
const WORTH = 1.5;

/**
 * Decides the number of jobs in one call.
 *
 * Usually a call contains all waiting jobs, because each call has a fixed cost in the server. But
 * callers that are answered together also ask again together, and the server idles while this
 * process prepares their requests. If the preparation takes longer than one more call, one half of
 * the jobs is written while the other half is prepared.
 */
export class AdaptiveBatchSize {
  readonly #askers = new CallersInFlight();
  /**
   * The milliseconds of a call with one job. They approximate the fixed cost of a call. Undefined
   * before the first call.
   */
  #call: number | undefined;
  #callsSince = 0;
  /**
   * The milliseconds that this process takes per answered caller until all continuing callers have
   * asked again.
   */
  #making = 0;

  /** Records the number of unanswered calls now. */
  asking(count: number): void {
    this.#askers.asking(count);
  }

  /** Records the number of calls that were unanswered until some of them were answered. */
  answered(count: number): void {
    this.#askers.answered(count);
  }

  /**
   * Records a call with a number of jobs. Even if the call fails, the next call need not be a
   * measurement.
   */
  sent(jobs: number): void {
    this.#callsSince = jobs === 1 ? 0 : this.#callsSince + 1;
  }

  /** Records the milliseconds that the server took to write a number of jobs. */
  called(ms: number, jobs: number): void {
    const before = this.#call ?? ms;
    this.#call = Math.max(before * FASTER, Math.min(ms, jobs === 1 ? before * SLOWER : before));
  }

  /** Records the milliseconds of preparation after a number of answers. */
  made(ms: number, answers: number): void {
    const most = OUTLIER * Math.max(this.#making, this.#call ?? ms);
    this.#making += (Math.min(ms / answers, most) - this.#making) * FOLLOWED;
  }

  /** The number of waiting jobs at which a call starts without waiting for more. */
  get enough(): number {
    if (this.#isToLook) return 1;
    const { seen, half } = this.#askers;
    return this.#making * seen > WORTH * this.#taken ? half : Number.POSITIVE_INFINITY;
  }

  /**
   * The number of waiting jobs in the next call. One job above half joins the call, because it
   * would otherwise need a separate call.
   */
  take(waiting: number): number {
    const { enough } = this;
    if (this.#isToLook) return Math.min(waiting, 1);
    return waiting <= enough + 1 ? waiting : enough;
  }

  /** Whether the next call writes one job alone, to measure the duration of a call. */
  get #isToLook(): boolean {
    return (
      this.#callsSince >= LOOKED && this.#making * this.#askers.seen > this.#taken * LOOKED_FROM
    );
  }

  get #taken(): number {
    return this.#call ?? Number.POSITIVE_INFINITY;
  }
}
