import { type EntryRow, integrateLog, type LogStore } from '#ledger';
import type { Followable } from '#stores';

/** An entry with its position in the log. */
export interface LoggedEntry {
  readonly position: number;
  readonly row: EntryRow;
}

export type TailListener = (entries: readonly LoggedEntry[]) => void;

/** Entries of one read. */
const PAGE = 500;

/**
 * Follows the log of a store: one reader for all listeners of a process. Positions are given by the
 * log, so a listener that remembers a position misses nothing.
 */
export class LogTail {
  readonly #store: LogStore & Partial<Followable>;
  readonly #pollMs: number;
  readonly #onFailure: (error: unknown) => void;
  readonly #listeners: Set<TailListener> = new Set();
  /** Every listener has the entries before it. Undefined before the first listener. */
  #position: number | undefined;
  #woken = false;
  #running: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #unfollow: (() => Promise<void>) | undefined;
  #stopped = false;

  /** `pollMs`: most time until entries of other processes are seen, without a notification. */
  constructor(
    store: LogStore & Partial<Followable>,
    { pollMs, onFailure }: { readonly pollMs: number; readonly onFailure: (error: unknown) => void },
  ) {
    this.#store = store;
    this.#pollMs = pollMs;
    this.#onFailure = onFailure;
  }

  async start(): Promise<void> {
    this.#unfollow = await this.#store.follow?.(() => this.wake());
    this.#timer = setInterval(() => this.wake(), this.#pollMs);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#unfollow?.();
    await this.#running;
  }

  /** Reads new entries soon. Cheap: calls during a read cause one more read. */
  wake(): void {
    this.#woken = true;
    if (this.#stopped || this.#listeners.size === 0) return;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  /** The size of the log, after every committed entry got its position. */
  async size(): Promise<number> {
    return integrateLog(this.#store);
  }

  /** The entries from a position on, at most a page. */
  async read(from: number): Promise<readonly LoggedEntry[]> {
    const rows = await this.#store.logged(from, PAGE);
    return rows.map((row, i) => ({ position: from + i, row }));
  }

  /**
   * Calls the listener with entries in the order of the log, with all from a position on. Earlier
   * entries, and entries that it already got, may come too: another listener asked for them.
   */
  listen(listener: TailListener, from: number): () => void {
    this.#listeners.add(listener);
    this.#position = Math.min(this.#position ?? from, from);
    this.wake();
    return () => {
      this.#listeners.delete(listener);
    };
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  async #run(): Promise<void> {
    while (this.#woken && !this.#stopped && this.#listeners.size > 0) {
      this.#woken = false;
      try {
        await this.#readNew();
      } catch (error) {
        // The next poll reads again from the same position.
        this.#onFailure(error);
        return;
      }
    }
  }

  async #readNew(): Promise<void> {
    const size = await integrateLog(this.#store);
    for (let from = this.#position; from !== undefined && from < size; from = this.#position) {
      const entries = await this.read(from);
      if (entries.length === 0) return;
      // A listener that came during the read asked for earlier entries.
      if (this.#position !== from) continue;
      this.#position = from + entries.length;
      for (const listener of this.#listeners) listener(entries);
    }
  }
}
