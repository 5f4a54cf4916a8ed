import { isAssizeError } from '#base';
import { addMicros, type Instant, instantToMillis } from '#canon';
import type { Clock } from '#oracle';

/** The longest wait before the clock is read again, because the machine's clock may be set. */
const LOOK_MS = 60_000;

/** The time after a failure before the next attempt. */
const RETRY_MS = 30_000;

/** Errors that do not pass: nothing can be recorded in the trajectory from here. */
const LASTING: ReadonlySet<string> = new Set([
  'domain_mismatch',
  'wrong_signer',
  'invalid_ledger',
  'not_found',
  'concluded',
]);

export interface ExpiryPorts {
  readonly clock: Clock;
  /** Records what has expired in a trajectory. Returns the next expiry there. */
  readonly record: (trajectoryId: string) => Promise<Instant | undefined>;
  /** Receives the first of several failures of a trajectory. */
  readonly failed: (trajectoryId: string, error: unknown) => void;
}

/**
 * Wakes a runtime when the next approval expires: one timer for all trajectories. Nothing is read
 * before that time. The timer does not keep a process alive.
 */
export class ExpiryTimer {
  readonly #ports: ExpiryPorts;
  /** The next expiry of each trajectory that has one. */
  readonly #due: Map<string, Instant> = new Map();
  readonly #failing: Set<string> = new Set();
  #timer: NodeJS.Timeout | undefined;
  /** The expiry that the timer waits for. */
  #at: Instant | undefined;
  #recording: Promise<void> | undefined;
  #isClosed = false;

  constructor(ports: ExpiryPorts) {
    this.#ports = ports;
  }

  /** Notes the next expiry in a trajectory. Cheap, because it is called after each entry. */
  note(trajectoryId: string, expires: Instant | undefined): void {
    if (this.#isClosed || this.#due.get(trajectoryId) === expires) return;
    if (expires === undefined) this.#due.delete(trajectoryId);
    else this.#due.set(trajectoryId, expires);
    if (expires !== undefined && (this.#at === undefined || expires < this.#at))
      this.#wait(expires);
  }

  /** Ends the timer, and waits for the entry that is being recorded. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#recording;
  }

  #wait(at: Instant): void {
    clearTimeout(this.#timer);
    this.#at = at;
    if (this.#recording !== undefined) return;
    const now = this.#now();
    const ms = now === undefined ? LOOK_MS : Math.ceil(instantToMillis(at) - instantToMillis(now));
    this.#timer = setTimeout(() => this.#wake(), Math.min(Math.max(ms, 0), LOOK_MS)).unref();
  }

  /** Undefined if the clock of the options fails. The next proposal gets that error. */
  #now(): Instant | undefined {
    try {
      return this.#ports.clock.now();
    } catch {
      return undefined;
    }
  }

  #wake(): void {
    this.#recording = this.#recordDue().finally(() => {
      this.#recording = undefined;
      this.#at = undefined;
      const [first] = [...this.#due.values()].sort();
      if (first !== undefined && !this.#isClosed) this.#wait(first);
    });
  }

  async #recordDue(): Promise<void> {
    const now = this.#now();
    if (now === undefined) return;
    for (const [trajectoryId, expires] of [...this.#due]) {
      if (this.#isClosed) return;
      if (expires <= now) await this.#record(trajectoryId, now);
    }
  }

  async #record(trajectoryId: string, now: Instant): Promise<void> {
    const later = addMicros(now, RETRY_MS * 1_000);
    try {
      const next = await this.#ports.record(trajectoryId);
      this.#failing.delete(trajectoryId);
      // A halted trajectory records no expiry before it is resumed.
      if (next === undefined) this.#due.delete(trajectoryId);
      else this.#due.set(trajectoryId, next <= now ? later : next);
    } catch (error) {
      if (isAssizeError(error, 'store_closed') || isAssizeError(error, 'closed'))
        return void this.#due.clear();
      if (isAssizeError(error) && LASTING.has(error.code)) this.#due.delete(trajectoryId);
      else this.#due.set(trajectoryId, later);
      if (!this.#failing.has(trajectoryId)) this.#ports.failed(trajectoryId, error);
      this.#failing.add(trajectoryId);
    }
  }
}
