import { ServerError } from '@assize/command/operation';

/** The time over which the rate of answers is measured. */
const MEASURED_MS = 5_000;
const RETRY_SECONDS_MAX = 60;

/**
 * The proposals in progress in this process. Above the limit each principal may have an equal share
 * of them: a principal with more is refused, and one with few proposals still gets its turn.
 */
export class Backlog {
  readonly #limit: number;
  readonly #nowMs: () => number;
  readonly #running: Map<string, number> = new Map();
  #total = 0;
  #answered = 0;
  #since: number;
  #perSecond = 0;

  /** `nowMs`: a monotonic clock in milliseconds. */
  constructor(limit: number, nowMs: () => number) {
    this.#limit = limit;
    this.#nowMs = nowMs;
    this.#since = nowMs();
  }

  get size(): number {
    return this.#total;
  }

  /**
   * Counts proposals of a principal, and returns the function that ends them, once.
   *
   * @throws ServerError `too_busy`
   */
  enter(principal: string, proposals: number): () => void {
    const own = this.#running.get(principal) ?? 0;
    const principals = this.#running.size + (own === 0 ? 1 : 0);
    // A request larger than the share gets its turn while the principal has nothing in progress.
    const isOverShare = own > 0 && own + proposals > this.#limit / principals;
    if (this.#total + proposals > this.#limit && isOverShare) throw this.#tooBusy(principal);
    this.#add(principal, proposals);
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      this.#add(principal, -proposals);
      this.#measure(proposals);
    };
  }

  #add(principal: string, proposals: number): void {
    const own = (this.#running.get(principal) ?? 0) + proposals;
    if (own === 0) this.#running.delete(principal);
    else this.#running.set(principal, own);
    this.#total += proposals;
  }

  #measure(answered: number): void {
    this.#answered += answered;
    const ms = this.#nowMs() - this.#since;
    if (ms < MEASURED_MS) return;
    this.#perSecond = (this.#answered / ms) * 1_000;
    this.#answered = 0;
    this.#since = this.#nowMs();
  }

  #tooBusy(principal: string): ServerError {
    const seconds = this.#perSecond === 0 ? 1 : Math.ceil(this.#total / this.#perSecond);
    const retryAfter = Math.min(Math.max(seconds, 1), RETRY_SECONDS_MAX);
    return new ServerError(
      'too_busy',
      `The server has ${this.#total} proposals in progress, and ${principal} has its share of them. Wait ${retryAfter} s, and repeat the request.`,
      { evidence: { retry_after: retryAfter }, retryable: true },
    );
  }
}
