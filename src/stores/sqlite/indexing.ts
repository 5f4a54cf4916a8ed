import { QUEUE_MAX } from './text-writer.ts';

/**
 * Changes that are indexed in one transaction, at most. As many as come at once as a rule: so indexing keeps up with them, and has what it
 * needs in memory yet.
 */
export const PART_MAX = 1_000;

/** Between two looks at whether nobody waits for a commit. */
export const IDLE_MS = 20;

/**
 * When what waits to be indexed is indexed: one part after so much was written, and what is left over, as a flush that failed leaves some,
 * one part at a time while nobody waits for a commit. Nobody waits for more than one part.
 */
export class Indexing {
  readonly #flush: (most: number) => Promise<boolean>;
  readonly #isIdle: () => boolean;
  /** What was written since, that is not under way to be indexed. */
  #written = 0;
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
    this.#written += written;
    if (this.#written < QUEUE_MAX || this.#isUnderWay || this.#hasEnded) return;
    const part = Math.min(this.#written, PART_MAX);
    this.#written -= part;
    this.#begin(part);
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

  #begin(part: number): void {
    this.#isUnderWay = true;
    this.#flush(part).then(
      (isMore) => {
        this.#isUnderWay = false;
        this.later(0);
        if (isMore && !this.#isUnderWay) this.#goOnWhenIdle();
      },
      () => {
        // Whoever writes next begins it again, or a store that is poisoned says so to whoever calls next.
        this.#isUnderWay = false;
        this.#written += part;
      },
    );
  }

  /** Keeps no process alive: what is not indexed yet is found all the same, and slower. */
  #goOnWhenIdle(): void {
    clearTimeout(this.#timer);
    if (this.#hasEnded) return;
    this.#timer = setTimeout(() => {
      if (this.#isUnderWay) return;
      if (this.#isIdle()) this.#begin(PART_MAX);
      else this.#goOnWhenIdle();
    }, IDLE_MS).unref();
  }
}
