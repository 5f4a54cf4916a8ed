/** Commits that notify one by one before a busy writer merges its notifications. */
const BURST = 50;
/** Commits a second that notify one by one after the burst. */
const PER_SECOND = 20;
/** The time after which one notification covers the commits that did not notify. */
const GAP_MS = 25;

/**
 * Decides which commits notify the followers. The server lets transactions that notify commit one
 * after the other, and wakes every follower. So a writer above a rate lets its commits go without,
 * and announces them together.
 */
export class NotificationRate {
  readonly #announce: () => Promise<unknown>;
  readonly #nowMs: () => number;
  #saved = BURST;
  #at: number;
  #timer: NodeJS.Timeout | undefined;
  #announcing: Promise<void> | undefined;
  #isClosed = false;

  /**
   * `announce`: notifies the followers of commits that they may have missed. `nowMs`: a monotonic
   * clock.
   */
  constructor(announce: () => Promise<unknown>, nowMs: () => number = () => performance.now()) {
    this.#announce = announce;
    this.#nowMs = nowMs;
    this.#at = nowMs();
  }

  /** Whether the next commit notifies. Otherwise the followers are notified soon after it. */
  next(): boolean {
    const now = this.#nowMs();
    this.#saved = Math.min(BURST, this.#saved + ((now - this.#at) / 1_000) * PER_SECOND);
    this.#at = now;
    if (this.#saved >= 1) {
      this.#saved -= 1;
      return true;
    }
    this.#timer ??= setTimeout(() => void this.flush(), GAP_MS);
    return false;
  }

  /** Announces once more, if a commit did not notify. Nothing is announced later. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush();
  }

  /** Announces the commits that did not notify. An announcement that fails is made again later. */
  async flush(): Promise<void> {
    if (this.#timer === undefined) return this.#announcing;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#announcing = this.#announce().then(
      () => undefined,
      () => {
        if (this.#isClosed) return;
        this.#timer ??= setTimeout(() => void this.flush(), GAP_MS * BURST).unref();
      },
    );
    return this.#announcing;
  }
}
