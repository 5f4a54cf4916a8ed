import { setImmediate } from 'node:timers';
import type { LedgerStore } from '#ledger';
import type { Pause } from '#oracle';

/** A write lock lasts this many times as long as reading the new entries took, within limits. */
const TURN_READINGS = 4;
const TURN_MS_MIN = 20;
const TURN_MS_MAX = 100;
/** Consecutive write locks without a foreign write, after which a writer stops asking for locks. */
const QUIET_TURNS = 8;
/** Pause before the second attempt. The longest pause follows this many losses in a row. */
const PAUSE_MS = 1;
const LOSSES_MAX = 6;

const NOTHING = (): void => undefined;

/**
 * How a writer behaves under write contention. Of several writers that append at the same position,
 * one wins, and the others adjudicated without success. So a writer that met another writer
 * acquires the store's write lock before it reads new entries. It writes for as long as it holds
 * the lock. A lone writer never acquires the lock, nor does a writer that met no other for a few
 * locks. If the store has no write locks, the losing writer pauses, longer each time.
 *
 * The write lock is advisory: the store decides each append, regardless of the lock's holder.
 */
export class WriteContention {
  readonly #pause: Pause;
  readonly #takeTurn: (() => ReturnType<NonNullable<LedgerStore['acquireWriteLock']>>) | undefined;
  readonly #now: () => number;
  /** Remaining write locks to acquire before the writer counts as alone again. */
  #turnsLeft = 0;
  /** Appends lost to another writer since the last successful append. */
  #losses = 0;
  /** Releases the write lock that this writer holds. */
  #end: (() => void) | undefined;
  #begin = 0;
  #until = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Appends that are not answered yet. */
  #underWay = 0;
  #hasWritten = false;

  /** `now`: milliseconds from any fixed start. */
  constructor(
    store: Pick<LedgerStore, 'acquireWriteLock'>,
    trajectoryId: string,
    pause: Pause,
    now: () => number = () => performance.now(),
  ) {
    this.#pause = pause;
    this.#takeTurn = store.acquireWriteLock && (() => store.acquireWriteLock!(trajectoryId));
    this.#now = now;
  }

  /** Whether other writers may hold the write lock, so the state in memory is likely stale. */
  get isOthersTurn(): boolean {
    if (this.#takeTurn === undefined || this.#turnsLeft === 0) return false;
    return this.#end === undefined || this.#now() >= this.#until;
  }

  /** An append was sent to the store. */
  sent(): void {
    this.#underWay++;
  }

  /** The store answered an append. A writer with no more appends in flight releases its lock. */
  answered(): void {
    this.#underWay--;
    const end = this.#end;
    // Callers that receive their answers propose again before that.
    if (end !== undefined && this.#underWay === 0) setImmediate(() => this.#endIfIdle(end));
  }

  committed(): void {
    this.#losses = 0;
    this.#hasWritten = true;
  }

  /**
   * The writes of an opening are done. If other writers won all appends, the lock is released, and
   * the writer counts as alone until it meets another writer again.
   */
  opened(): void {
    if (this.#hasWritten || this.#underWay > 0) return;
    this.#endTurn();
    this.#turnsLeft = 0;
    this.#losses = 0;
  }

  conflicted(): void {
    this.#losses++;
    this.#turnsLeft = QUIET_TURNS;
  }

  /** The trajectory was read again. `met`: whether another writer appended in the meantime. */
  read(met: boolean): void {
    if (met) this.#turnsLeft = QUIET_TURNS;
    else if (this.#turnsLeft > 0) this.#turnsLeft--;
    const took = this.#now() - this.#begin;
    if (this.#end !== undefined)
      this.#lasts(Math.min(Math.max(took * TURN_READINGS, TURN_MS_MIN), TURN_MS_MAX));
  }

  /**
   * Callers must call this before they read the trajectory again, so that the entries read are not
   * stale already. @throws the errors of the store
   */
  async waitForTurn(): Promise<void> {
    this.#endTurn();
    if (this.#takeTurn === undefined) {
      if (this.#losses > 0)
        await this.#pause(0, PAUSE_MS * 2 ** (Math.min(this.#losses, LOSSES_MAX) - 1));
    } else if (this.#turnsLeft > 0) {
      // If others hold the lock for too long, the writer proceeds without it.
      this.#end = (await this.#takeTurn()) ?? NOTHING;
      this.#begin = this.#now();
      // Also if reading fails.
      this.#lasts(TURN_MS_MAX);
    }
  }

  #lasts(ms: number): void {
    const end = this.#end!;
    this.#until = this.#now() + ms;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#endIfIdle(end), ms);
  }

  #endIfIdle(end: () => void): void {
    if (this.#underWay === 0 && this.#end === end) this.#endTurn();
  }

  #endTurn(): void {
    clearTimeout(this.#timer);
    this.#end?.();
    this.#end = undefined;
  }
}
