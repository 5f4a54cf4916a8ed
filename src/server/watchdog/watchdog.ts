import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { SideStore } from '#ledger';
import { ServerError } from '../errors.ts';
import { RecentReads } from '../recent-reads.ts';
import { newSlots, type SharedSlots, SlotWriter } from './shared-slots.ts';
import type { GuardedProposal, StuckGuard, StuckProposal } from './stuck-guard.ts';
import { allStuck, STUCK_FRESH_MS, STUCK_KIND, stuckIn, stuckKey } from './stuck-rows.ts';
import { TurnGate } from './turn-gate.ts';

/** The exit code of a process that its watchdog ended. */
export const STUCK_EXIT_CODE = 86;

/** The input of the thread. */
export interface WatchTask {
  readonly slots: SharedSlots;
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
  /** Receives the error of the thread, as in a bundle without its file: nothing is watched. */
  readonly onFailure: (error: unknown) => void;
}

/** The looks of the thread in the time of the limit, so a stopped process is not ended at once. */
const LOOKS = 10;
const TICK_MS_MIN = 10;
const TICK_MS_MAX = 250;

/**
 * Ends the process when code of a domain blocks it for longer than a limit. A thread names the
 * proposals that ran, on standard error and in the side log.
 *
 * If one proposal ran, it is refused from then on. If several ran, each is a suspect: it runs alone
 * the next time, and is cleared if it does not block.
 */
export class Watchdog implements StuckGuard {
  readonly #store: SideStore;
  readonly #stuck: RecentReads<ReadonlyMap<string, StuckProposal>>;
  readonly #writer: SlotWriter;
  readonly #gate: TurnGate = new TurnGate();
  readonly #worker: Worker;
  readonly #ended: Promise<unknown>;
  readonly #timer: NodeJS.Timeout;

  constructor({ store, url, limitMs, onFailure }: WatchdogOptions) {
    this.#store = store;
    this.#stuck = new RecentReads(() => allStuck(store), STUCK_FRESH_MS);
    const slots = newSlots();
    this.#writer = new SlotWriter(slots);
    const tickMs = Math.min(TICK_MS_MAX, Math.max(TICK_MS_MIN, Math.floor(limitMs / LOOKS)));
    this.#timer = setInterval(() => this.#writer.beat(), tickMs / 2).unref();
    const task: WatchTask = { slots, url, limitMs, tickMs };
    this.#worker = new Worker(new URL('./watchdog-worker.ts', import.meta.url), { workerData: task, execArgv: [] });
    this.#worker.unref();
    this.#ended = once(this.#worker, 'exit').catch(onFailure);
  }

  async during<T>(proposal: GuardedProposal, work: () => Promise<T>): Promise<T> {
    const key = stuckKey(proposal);
    const isSuspect = (await this.#requireNotStuck(key, proposal)) === 'suspect';
    const leave = await (isSuspect ? this.#gate.enterAlone() : this.#gate.enter());
    const { trajectoryId: trajectory, principal, action } = proposal;
    const end = this.#writer.begin({ key, trajectory, principal, action });
    try {
      return await work();
    } finally {
      end();
      leave();
      // If the record stays, the proposal runs alone again. Its answer is not lost.
      if (isSuspect) await this.forget(key).catch(() => false);
    }
  }

  /** The recorded proposals, by key. */
  async recorded(page: {
    readonly after?: string;
    readonly limit: number;
  }): Promise<ReadonlyMap<string, StuckProposal>> {
    const rows = await this.#store.sideList(STUCK_KIND, page);
    return new Map(rows.map((row) => [row.key, stuckIn(row)]));
  }

  /** Removes a record, after the code of the domain was corrected. False if there is none. */
  async forget(key: string): Promise<boolean> {
    const row = await this.#store.sideGet(STUCK_KIND, key);
    if (row === undefined) return false;
    const isForgotten = await this.#store.sidePut([{ kind: STUCK_KIND, key, expected: row.version, body: null }]);
    this.#stuck.forget('');
    return isForgotten;
  }

  /** Ends the watch. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#worker.ref();
    this.#writer.stop();
    await this.#ended;
  }

  async #requireNotStuck(key: string, proposal: GuardedProposal): Promise<StuckProposal['state'] | undefined> {
    const state = (await this.#stuck.get(''))?.get(key)?.state;
    if (state !== 'stuck') return state;
    const { action, trajectoryId } = proposal;
    throw new ServerError(
      'domain_stuck',
      `An earlier attempt of this proposal of ${action} blocked a process, and was ended. Correct the code of the domain.`,
      { evidence: { action, trajectory_id: trajectoryId, stuck: key } },
    );
  }
}
