/**
 * The number of changes that a transaction indexes. A part is indexed when this number of changes
 * was written, so no caller waits long.
 *
 * Indexing keeps up with two concurrent writers, and finds its data in memory. With more writers it
 * falls behind until they pause.
 */
export const PART = 1_000;

/** The pause between two checks whether the store is idle. */
export const IDLE_MS = 20;

/**
 * Schedules the indexing of queued changes.
 *
 * One part is indexed after the same number of changes was written. The remainder, such as the rest
 * of a failed flush, is indexed part by part while the store is idle. The remainder stays queued
 * while writers are active. No caller waits for more than one part.
 */
export class Indexing {
  readonly #flush: (most: number) => Promise<boolean>;
  readonly #isIdle: () => boolean;
  /** The number of changes written since that no flush in progress covers. */
  #written = 0;
  /** Whether any change was written since the last check. */
  #isWritten = false;
  #isUnderWay = false;
  #hasEnded = false;
  #timer: NodeJS.Timeout | undefined;

  /**
   * `flush` indexes at most the given number of changes, and resolves to whether more can be left.
   * `isIdle`: whether no caller waits for a commit.
   */
  constructor(flush: (most: number) => Promise<boolean>, isIdle: () => boolean) {
    this.#flush = flush;
    this.#isIdle = isIdle;
  }

  /** Adds the approximate number of newly queued changes. */
  later(written: number): void {
    this.#isWritten = true;
    this.#written += written;
    this.#goOn();
  }

  /** Every written change is indexed. */
  caughtUp(): void {
    this.#written = 0;
    clearTimeout(this.#timer);
  }

  end(): void {
    this.#hasEnded = true;
    clearTimeout(this.#timer);
  }

  #goOn(): void {
    if (this.#written < PART || this.#isUnderWay || this.#hasEnded) return;
    this.#written -= PART;
    this.#begin();
  }

  #begin(): void {
    this.#isUnderWay = true;
    this.#flush(PART).then(
      (isMore) => {
        this.#isUnderWay = false;
        this.#goOn();
        if (isMore && !this.#isUnderWay) this.#goOnWhenIdle();
      },
      () => {
        // The next write starts the indexing again. A poisoned store reports its error to the next
        // caller.
        this.#isUnderWay = false;
        this.#written += PART;
      },
    );
  }

  /**
   * The timer keeps no process alive: a search also finds texts that are not indexed yet, but more
   * slowly.
   */
  #goOnWhenIdle(): void {
    clearTimeout(this.#timer);
    if (this.#hasEnded) return;
    // Between two groups of sequential writers, the store is idle for a moment.
    this.#isWritten = false;
    this.#timer = setTimeout(() => {
      if (this.#isUnderWay) return;
      if (this.#isIdle() && !this.#isWritten) this.#begin();
      else this.#goOnWhenIdle();
    }, IDLE_MS).unref();
  }
}
