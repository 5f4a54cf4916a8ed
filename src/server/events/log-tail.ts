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
  #position: number | undefined;
  #woken = false;
  #running: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #unfollow: (() => Promise<void>) | undefined;
  #stopped = false;

  /** `pollMs`: after this time, entries of other processes are seen without a notification. */
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
   * Calls the listener with every entry that gets its position after the call, in the order of the
   * log. `from`: the size of the log before the call. Entries of earlier positions may come too.
   */
  listen(listener: TailListener, from: number): () => void {
    this.#position ??= from;
    this.#listeners.add(listener);
    this.wake();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#position = undefined;
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
    for (let position = this.#position; position !== undefined && position < size; position = this.#position) {
      const entries = await this.read(position);
      if (entries.length === 0) return;
      // The last listener may have left during the read, and another one may have come.
      if (this.#position !== position) continue;
      this.#position = position + entries.length;
      for (const listener of this.#listeners) listener(entries);
    }
  }
}
