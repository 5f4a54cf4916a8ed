import type { SideStore } from 'assize/internal/ledger';
import { STUCK_KIND } from './stuck-rows.ts';

/** A process that was ended is recorded by then in the index of every other process. */
export const REFRESH_MS = 1_000;

const PAGE = 1_000;

/**
 * The keys of the stuck runs in the store, in memory. A watchdog of another process, or an
 * administrator there, changes the rows seldom. So the keys are read again at an interval, and a
 * ruling waits for no read.
 */
export class StuckIndex {
  readonly #store: SideStore;
  readonly #onFailure: (error: unknown) => void;
  #keys: Set<string> = new Set();
  #timer: NodeJS.Timeout | undefined;
  #reading: Promise<void> | undefined;
  #hasFailed: boolean = false;

  /** `onFailure`: receives the first error of a number of failed reads. */
  constructor(store: SideStore, onFailure: (error: unknown) => void) {
    this.#store = store;
    this.#onFailure = onFailure;
  }

  /** Resolves when the keys are read. @throws the errors of the store */
  async start(): Promise<void> {
    await this.#read();
    this.#timer = setInterval(() => this.#refresh(), REFRESH_MS).unref();
  }

  get isEmpty(): boolean {
    return this.#keys.size === 0;
  }

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  /** The next read may still have it, if it began before. */
  delete(key: string): void {
    this.#keys.delete(key);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#reading;
  }

  #refresh(): void {
    this.#reading ??= this.#read()
      .then(
        () => {
          this.#hasFailed = false;
        },
        (error: unknown) => {
          if (!this.#hasFailed) this.#onFailure(error);
          this.#hasFailed = true;
        },
      )
      .finally(() => {
        this.#reading = undefined;
      });
  }

  async #read(): Promise<void> {
    const keys = new Set<string>();
    for (let after: string | undefined; ; ) {
      const rows = await this.#store.sideList(STUCK_KIND, { limit: PAGE, ...(after !== undefined && { after }) });
      for (const { key } of rows) keys.add(key);
      after = rows.at(-1)?.key;
      if (rows.length < PAGE) break;
    }
    this.#keys = keys;
  }
}
