import { setTimeout as sleep } from 'node:timers/promises';
import { type EntryRow, integrateLog, type LogStore } from 'assize/internal/ledger';
import type { Followable } from 'assize/internal/stores';

/** An entry with its position in the log, as readers of the log see it. */
export interface LoggedEntry {
  readonly position: number;
  readonly trajectoryId: string;
  readonly kind: EntryRow['kind'];
  /** The entry in the form of the readers. A function: what is known of it now. */
  readonly text: EntryText;
}

export type EntryText = string | (() => Promise<string>);

/** New entries of the log, from a position on and before another. */
export interface News {
  readonly from: number;
  readonly to: number;
  /** The trajectories of the entries. Undefined: unknown. */
  readonly trajectories: ReadonlySet<string> | undefined;
}

export interface LogTailOptions {
  /** The longest time until entries of other processes are seen without a notification. */
  readonly pollMs: number;
  readonly onFailure: (error: unknown) => void;
  /** Writes an entry in the form of the readers. Called once for each entry in memory. */
  readonly textOf: (position: number, row: EntryRow) => EntryText;
}

/** Entries of one read. */
const PAGE = 500;
/** Entries that stay in memory for the readers. Readers further behind read the store. */
const RECENT_MAX = 2_000;
/** The shortest time between two reads, so that a read has the entries of many commits. */
const GAP_MS = 25;

/**
 * Follows the log of a store: one reader of the store for all readers in a process. The log gives
 * the positions, so a reader that remembers a position misses nothing.
 */
export class LogTail {
  readonly #store: LogStore & Partial<Followable>;
  readonly #options: LogTailOptions;
  readonly #listeners: Set<(news: News) => void> = new Set();
  /** The entries before `#end`, without a gap. */
  #recent: LoggedEntry[] = [];
  /** The known size of the log. */
  #end: number | undefined;
  #woken = false;
  #running: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #unfollow: (() => Promise<void>) | undefined;
  #stopped = false;

  constructor(store: LogStore & Partial<Followable>, options: LogTailOptions) {
    this.#store = store;
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#unfollow = await this.#store.follow?.(() => this.wake());
    this.#timer = setInterval(() => this.wake(), this.#options.pollMs);
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
    if (this.#stopped || this.#listeners.size === 0) return;
    this.#woken = true;
    this.#running ??= this.#run();
  }

  /** The size of the log, after every committed entry got its position. */
  async size(): Promise<number> {
    return integrateLog(this.#store);
  }

  /** The entries from a position on, at most a page. Empty if the log has no more. */
  async read(from: number): Promise<readonly LoggedEntry[]> {
    const end = this.#end ?? 0;
    const first = end - this.#recent.length;
    if (from >= first && from < end) return this.#recent.slice(from - first, from - first + PAGE);
    return from === end && this.#end !== undefined ? [] : this.#pageFrom(from);
  }

  /** Calls the listener when the log has more entries. */
  listen(listener: (news: News) => void): () => void {
    this.#listeners.add(listener);
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
        this.#options.onFailure(error);
      }
      await sleep(GAP_MS);
    }
    this.#running = undefined;
  }

  async #readNew(): Promise<void> {
    const size = await integrateLog(this.#store);
    if (size === this.#end) return;
    const from = this.#end ?? 0;
    // Without listeners nothing is read, so the known entries may be far behind.
    if (this.#end === undefined || size - this.#end > RECENT_MAX) {
      this.#recent = [];
      this.#end = size;
      this.#tell({ from, to: size, trajectories: undefined });
      return;
    }
    const trajectories = new Set<string>();
    while (this.#end < size) {
      const entries = await this.#pageFrom(this.#end);
      if (entries.length === 0) break;
      for (const { trajectoryId } of entries) trajectories.add(trajectoryId);
      this.#recent = [...this.#recent, ...entries].slice(-RECENT_MAX);
      this.#end += entries.length;
    }
    this.#tell({ from, to: this.#end, trajectories });
  }

  #tell(news: News): void {
    for (const listener of this.#listeners) listener(news);
  }

  async #pageFrom(from: number): Promise<readonly LoggedEntry[]> {
    const rows = await this.#store.logged(from, PAGE);
    return rows.map((row, i) => ({
      position: from + i,
      trajectoryId: row.trajectory_id,
      kind: row.kind,
      text: this.#options.textOf(from + i, row),
    }));
  }
}
