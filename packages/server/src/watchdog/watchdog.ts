import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { SideStore } from 'assize/internal/ledger';
import type { DomainRun, DomainWatch } from 'assize/internal/runtime';
import { ServerError } from '../errors.ts';
import { newSharedRun, RunWriter, type SharedRun } from './shared-run.ts';
import { StuckIndex } from './stuck-index.ts';
import type { StuckRecords } from './stuck-records.ts';
import { STUCK_KIND, type StuckRun, stuckIn, stuckKey } from './stuck-rows.ts';

/** The exit code of a process that its watchdog ended. */
export const STUCK_EXIT_CODE = 86;

/** The input of the thread. */
export interface WatchTask {
  readonly shared: SharedRun;
  /** The thread opens the store itself, when it records. */
  readonly url: string;
  readonly limitMs: number;
  readonly tickMs: number;
}

export interface WatchdogOptions {
  readonly store: SideStore;
  /** The URL of the same store. A store in memory has no records. */
  readonly url: string;
  /** The time for which code may block the process. */
  readonly limitMs: number;
  /**
   * Receives the error of the thread, as in a bundle without its file: nothing is watched. Receives
   * the errors of the store when the records cannot be read again.
   */
  readonly onFailure: (error: unknown) => void;
}

/** The looks of the thread in the time of the limit, so a stopped process is not ended at once. */
const LOOKS = 10;
const TICK_MS_MIN = 10;
const TICK_MS_MAX = 250;

/**
 * Ends the process when code blocks it for longer than a limit. A thread names the run of domain
 * code that blocks it, on standard error and in the side log. That run is refused from then on, by
 * every process of the store. Other code that blocks the process has no name, and is not refused:
 * it has six times the limit, because it does bounded work.
 */
export class Watchdog implements DomainWatch, StuckRecords {
  readonly #store: SideStore;
  readonly #stuck: StuckIndex;
  readonly #writer: RunWriter;
  readonly #worker: Worker;
  readonly #ended: Promise<unknown>;
  readonly #timer: NodeJS.Timeout;

  constructor({ store, url, limitMs, onFailure }: WatchdogOptions) {
    this.#store = store;
    this.#stuck = new StuckIndex(store, onFailure);
    const shared = newSharedRun();
    this.#writer = new RunWriter(shared);
    const tickMs = Math.min(TICK_MS_MAX, Math.max(TICK_MS_MIN, Math.floor(limitMs / LOOKS)));
    this.#timer = setInterval(() => this.#writer.beat(), tickMs / 2).unref();
    const task: WatchTask = { shared, url, limitMs, tickMs };
    this.#worker = new Worker(new URL('./watchdog-worker.ts', import.meta.url), { workerData: task, execArgv: [] });
    this.#worker.unref();
    this.#ended = once(this.#worker, 'exit').catch(onFailure);
  }

  /** Call before code of a domain runs: resolves when the records are read. */
  start(): Promise<void> {
    return this.#stuck.start();
  }

  /** @throws ServerError `domain_stuck` if an earlier attempt of the run blocked a process */
  begin(run: DomainRun): void {
    if (!this.#stuck.isEmpty) this.#requireNotStuck(run);
    this.#writer.begin(run);
  }

  end(): void {
    this.#writer.end();
  }

  async recorded(page: { readonly after?: string; readonly limit: number }): Promise<ReadonlyMap<string, StuckRun>> {
    const rows = await this.#store.sideList(STUCK_KIND, page);
    return new Map(rows.map((row) => [row.key, stuckIn(row)]));
  }

  async forget(key: string): Promise<boolean> {
    const row = await this.#store.sideGet(STUCK_KIND, key);
    if (row === undefined) return false;
    const isGone = await this.#store.sidePut([{ kind: STUCK_KIND, key, expected: row.version, body: null }]);
    if (isGone) this.#stuck.delete(key);
    return isGone;
  }

  /** Ends the watch. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#worker.ref();
    this.#writer.stop();
    await Promise.all([this.#ended, this.#stuck.stop()]);
  }

  #requireNotStuck(run: DomainRun): void {
    const key = stuckKey(run);
    if (!this.#stuck.has(key)) return;
    const { step, action, trajectoryId } = run;
    throw new ServerError(
      'domain_stuck',
      `An earlier attempt blocked a process, which was ended (${action === undefined ? step : `${step} of ${action}`} in ${trajectoryId}). Upgrade to a corrected version of the domain, or correct its code and forget the record.`,
      { evidence: { step, ...(action !== undefined && { action }), trajectory_id: trajectoryId, stuck: key } },
    );
  }
}
