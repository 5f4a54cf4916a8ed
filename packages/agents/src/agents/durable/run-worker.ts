import { type ArgumentSchema, arg, checkArgument } from 'assize/internal/base';
import { type Instant, instantToMillis } from 'assize/internal/canon';
import { type Clock, systemClock } from 'assize/internal/oracle';
import type { CarrierOptions, RunStore } from './carrier-options.ts';
import { type DurableRun, isEnded, isHeld } from './durable-run.ts';
import { LogNews } from './news.ts';
import { CARRIER_OPTIONS, RunCarrier, requireAgents, SIGNAL } from './run-carrier.ts';
import type { RunRecords } from './run-records.ts';
import { RunRows } from './run-rows.ts';
import { nextRuns, type QueuedRun } from './schedule.ts';

export interface WorkerOptions extends CarrierOptions {
  /** The maximum number of runs that the worker advances at the same time. Default: 4. */
  readonly concurrency?: number;
  /** The maximum number of runs of one tenant among them. Default: the half, rounded up. */
  readonly perTenant?: number;
  /** The longest time until the worker sees a change of another process. Default: 500. */
  readonly pollMs?: number;
  /** Told of each run after an advance, with its record. */
  readonly onAdvance?: (run: DurableRun) => void;
}

const CONCURRENCY = 4;
const POLL_MS = 500;
/** The shortest time between two scans of the runs. */
const GAP_MS = 20;
/** A scan takes at most this part of the time: the next one begins so many times later. */
const SCAN_SHARE = 10;

/**
 * Carries the durable runs of a store, beside any number of other workers: takes runs that are
 * ready, and wakes runs that wait when their trajectory changes or their time comes.
 */
export class RunWorker {
  readonly #options: WorkerOptions;
  readonly #store: RunStore;
  readonly #carrier: RunCarrier;
  readonly #rows: RunRows;
  /** The names of the agents that are here. */
  readonly #names: ReadonlySet<string>;
  readonly #clock: Clock;
  readonly #news: LogNews;
  /** The runs in progress here, with their tenants. */
  readonly #carrying: Map<string, { readonly tenant: string; readonly ends: Promise<void> }> =
    new Map();
  /** The runs that wait, whose head was compared after the last news of their trajectory. */
  readonly #unchanged: Map<string, number> = new Map();
  /** The tenant of the run that began last. */
  #last: string | undefined;
  #wake: () => void = () => undefined;
  #isWoken: boolean = false;

  /** @throws ArgumentError `bad_argument` */
  constructor(options: WorkerOptions) {
    checkArgument(OPTIONS, options, 'options');
    const { concurrency, perTenant, pollMs, onAdvance, ...carrier } = options;
    this.#options = options;
    this.#store = options.store;
    this.#carrier = new RunCarrier(carrier);
    this.#clock = options.clock ?? systemClock;
    this.#rows = new RunRows(options.store, this.#clock);
    this.#names = new Set(options.agents.map(({ name }) => name));
    this.#news = new LogNews(options.store);
  }

  get records(): RunRecords {
    return this.#carrier.records;
  }

  /**
   * Carries runs until the signal aborts. Then waits for the turns in progress, and leaves their
   * runs to other workers. Errors of the store are reported, and the worker goes on after them.
   *
   * @throws ArgumentError `bad_argument`
   */
  async run(signal: AbortSignal): Promise<void> {
    checkArgument(SIGNAL, signal, 'signal');
    await this.#carry(signal, undefined);
  }

  /**
   * Carries one run until it has ended, here or in another process, and returns it. Undefined after
   * the abort of the signal.
   *
   * @throws RunError `not_found`, `damaged`; the errors of the store; ArgumentError `bad_argument`
   */
  async runOne(trajectoryId: string, signal: AbortSignal): Promise<DurableRun | undefined> {
    checkArgument(arg.text, trajectoryId, 'trajectoryId');
    checkArgument(SIGNAL, signal, 'signal');
    requireAgents(this.#options.agents, await this.records.get(trajectoryId));
    await this.#carry(signal, trajectoryId);
    const run = await this.records.get(trajectoryId);
    return isEnded(run) ? run : undefined;
  }

  async #carry(signal: AbortSignal, only: string | undefined): Promise<void> {
    const stopping = new AbortController();
    const stop = (): void => {
      stopping.abort();
      this.#woke();
    };
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    let unfollow: (() => Promise<void>) | undefined;
    try {
      unfollow = await this.#store.follow?.(() => this.#woke());
      while (!stopping.signal.aborted) {
        const began = performance.now();
        const scanned = await this.#scan(only, stopping.signal).catch((error: unknown) => {
          this.#options.onFailure?.(error);
          return { hasEnded: false, nextMs: POLL_MS };
        });
        if (scanned.hasEnded) break;
        const gap = Math.max(GAP_MS, (performance.now() - began) * SCAN_SHARE);
        await this.#rest(gap, Math.max(gap, scanned.nextMs));
      }
    } finally {
      signal.removeEventListener('abort', stop);
      stopping.abort();
      await Promise.all([...this.#carrying.values()].map(({ ends }) => ends));
      await unfollow?.();
    }
  }

  // ── a scan ──

  /** Begins the next runs. Returns the time until the next scan without news. */
  async #scan(
    only: string | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly hasEnded: boolean; readonly nextMs: number }> {
    const {
      concurrency = CONCURRENCY,
      perTenant = Math.ceil(concurrency / 2),
      pollMs = POLL_MS,
    } = this.#options;
    this.#isWoken = false;
    await this.#hear();
    const queued: QueuedRun[] = [];
    let nextMs = pollMs;
    let hasEnded = only !== undefined;
    for await (const { run, version } of this.#open(only)) {
      hasEnded = false;
      if (this.#carrying.has(run.trajectoryId) || !this.#names.has(run.agents)) continue;
      const now = this.#clock.now();
      if (isHeld(run, now)) nextMs = Math.min(nextMs, msUntil(run.lease!.until, now));
      else if (await this.#isDue(run, version, now))
        queued.push({ trajectoryId: run.trajectoryId, tenant: run.tenant, since: run.updated });
      else if (run.wakeAt !== undefined) nextMs = Math.min(nextMs, msUntil(run.wakeAt, now));
    }
    const carrying = new Map<string, number>();
    for (const { tenant } of this.#carrying.values())
      carrying.set(tenant, (carrying.get(tenant) ?? 0) + 1);
    const slots = concurrency - this.#carrying.size;
    for (const next of nextRuns(queued, { carrying, perTenant, slots, last: this.#last }))
      this.#begin(next, signal);
    return { hasEnded: hasEnded && this.#carrying.size === 0, nextMs };
  }

  async *#open(only: string | undefined) {
    if (only === undefined) yield* this.#rows.list(false);
    const found = only === undefined ? undefined : await this.#rows.find(only);
    if (found !== undefined && !isEnded(found.run)) yield found;
  }

  /** Forgets the comparisons of trajectories that have changed. */
  async #hear(): Promise<void> {
    const changed = await this.#news.next();
    if (changed === undefined) this.#unchanged.clear();
    else for (const trajectoryId of changed) this.#unchanged.delete(trajectoryId);
  }

  async #isDue(run: DurableRun, version: number, now: Instant): Promise<boolean> {
    if (run.cancelled === true) return true;
    if (run.wakeAt !== undefined && run.wakeAt <= now) return true;
    if (run.status === 'ready') return run.wakeAt === undefined;
    const { trajectoryId, head } = run;
    if (this.#unchanged.get(trajectoryId) === version) return false;
    if ((await this.#store.head(trajectoryId))?.id !== head) return true;
    this.#unchanged.set(trajectoryId, version);
    return false;
  }

  #begin({ trajectoryId, tenant }: QueuedRun, signal: AbortSignal): void {
    this.#last = tenant;
    const ends = this.#advance(trajectoryId, signal).finally(() => {
      this.#carrying.delete(trajectoryId);
      this.#woke();
    });
    this.#carrying.set(trajectoryId, { tenant, ends });
  }

  async #advance(trajectoryId: string, signal: AbortSignal): Promise<void> {
    try {
      const run = await this.#carrier.advance(trajectoryId, signal);
      this.#options.onAdvance?.(run);
    } catch (error) {
      // The lease of the run ends, and a later scan takes the run again.
      this.#options.onFailure?.(error);
    }
  }

  // ── between scans ──

  #woke(): void {
    this.#isWoken = true;
    this.#wake();
  }

  /** Waits for `leastMs`, and then for a call of `#woke`, at most until `mostMs`. */
  async #rest(leastMs: number, mostMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      let isOpen = false;
      const end = (): void => {
        clearTimeout(least);
        clearTimeout(most);
        this.#wake = () => undefined;
        resolve();
      };
      const least = setTimeout(() => {
        isOpen = true;
        if (this.#isWoken) end();
      }, leastMs);
      const most = setTimeout(end, mostMs);
      this.#wake = () => {
        if (isOpen) end();
      };
    });
  }
}

function msUntil(at: Instant, now: Instant): number {
  return Math.max(0, instantToMillis(at) - instantToMillis(now)) + 1;
}

const FROM_ONE: ArgumentSchema = arg.of(
  'a whole number from 1',
  (value) => Number.isSafeInteger(value) && (value as number) > 0,
);

const OPTIONS = arg.options<WorkerOptions>({
  ...CARRIER_OPTIONS,
  concurrency: arg.optional(FROM_ONE),
  perTenant: arg.optional(FROM_ONE),
  pollMs: arg.optional(FROM_ONE),
  onAdvance: arg.optional(arg.code),
});
