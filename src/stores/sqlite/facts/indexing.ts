/**
 * Changes that are indexed in one transaction: when as many were written, and no more, so that nobody waits for long. Indexing keeps up with
 * two callers who write as many at a time, and has what it needs in memory yet; with more of them it falls behind until they rest.
 */
export const PART = 1_000;

/** Between two looks at whether nobody writes. */
export const IDLE_MS = 20;

/**
 * When what waits to be indexed is indexed: one part after as much was written, and what is left over, as a flush that failed leaves some,
 * one part at a time while nobody writes; it stays as long as somebody does. Nobody waits for more than one part.
 */
export class Indexing {
  readonly #flush: (most: number) => Promise<boolean>;
  readonly #isIdle: () => boolean;
  /** What was written since, that is not under way to be indexed. */
  #written = 0;
  /** Whether anything was written since somebody looked. */
  #isWritten = false;
  #isUnderWay = false;
  #hasEnded = false;
  #timer: NodeJS.Timeout | undefined;

  /** `flush`: indexes at most so many, and answers whether more may be left. `isIdle`: whether nobody waits for a commit. */
  constructor(flush: (most: number) => Promise<boolean>, isIdle: () => boolean) {
    this.#flush = flush;
    this.#isIdle = isIdle;
  }

  /** So much more waits to be indexed, about. */
  later(written: number): void {
    this.#isWritten = true;
    this.#written += written;
    this.#goOn();
  }

  /** All that was written is indexed. */
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
        // Whoever writes next begins it again, or a store that is poisoned says so to whoever calls next.
        this.#isUnderWay = false;
        this.#written += PART;
      },
    );
  }

  /** Keeps no process alive: what is not indexed yet is found all the same, and slower. */
  #goOnWhenIdle(): void {
    clearTimeout(this.#timer);
    if (this.#hasEnded) return;
    // Between two groups of those who write one after the other, nobody waits for a moment.
    this.#isWritten = false;
    this.#timer = setTimeout(() => {
      if (this.#isUnderWay) return;
      if (this.#isIdle() && !this.#isWritten) this.#begin();
      else this.#goOnWhenIdle();
    }, IDLE_MS).unref();
  }
}
