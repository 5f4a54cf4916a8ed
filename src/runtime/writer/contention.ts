import type { LedgerStore } from '#ledger';
import type { Pause } from '#oracle';

/** How long a turn lasts if there is something to write: so many times as long as reading what is new took, within limits. */
const TURN_READINGS = 4;
const TURN_MS_MIN = 20;
const TURN_MS_MAX = 100;
/** Turns in a row before which nobody else had written, after which a writer takes itself for alone. */
const QUIET_TURNS = 8;
/** Before the second try; the longest is of so many losses in a row. */
const PAUSE_MS = 1;
const LOSSES_MAX = 6;

const NOTHING = (): void => undefined;

/**
 * How a writer gets along with others who write to its trajectory. Of those who meet, one wins, and what the others had judged
 * was in vain. So whoever has met somebody asks the store for a turn before it reads what is new, and writes on as long as its
 * turn lasts. A writer that is alone never asks, nor does one that nobody has met for a few turns. Where the store has no turns
 * to give, whoever has lost pauses, longer each time.
 *
 * Turns are a courtesy: an append is decided by the store, whoever's turn it is.
 */
export class Company {
  readonly #pause: Pause;
  readonly #takeTurn: (() => ReturnType<NonNullable<LedgerStore['turn']>>) | undefined;
  readonly #now: () => number;
  /** How many more turns are asked for where nobody else is met. */
  #turnsLeft = 0;
  /** How often another writer was faster, since an append was the last time. */
  #losses = 0;
  /** Ends the turn that this writer has. */
  #end: (() => void) | undefined;
  #begin = 0;
  #until = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Appends that are not answered yet. */
  #underWay = 0;
  #hasWritten = false;

  /** `now`: in milliseconds, from whenever. */
  constructor(
    store: Pick<LedgerStore, 'turn'>,
    trajectoryId: string,
    pause: Pause,
    now: () => number = () => performance.now(),
  ) {
    this.#pause = pause;
    this.#takeTurn = store.turn && (() => store.turn!(trajectoryId));
    this.#now = now;
  }

  /** Whether it is the turn of others: what is in memory is likely to be old. */
  get isTheirTurn(): boolean {
    if (this.#takeTurn === undefined || this.#turnsLeft === 0) return false;
    return this.#end === undefined || this.#now() >= this.#until;
  }

  /** An append goes to the store. */
  sent(): void {
    this.#underWay++;
  }

  /** The store has answered it somehow. Whoever has nothing to write then has no use for a turn. */
  answered(): void {
    this.#underWay--;
    const end = this.#end;
    // Callers who have their answers propose again before that.
    if (end !== undefined && this.#underWay === 0) setImmediate(() => this.#endIfIdle(end));
  }

  won(): void {
    this.#losses = 0;
    this.#hasWritten = true;
  }

  /**
   * What an opening had to write is written. Where others were faster with all of it, its turn is theirs, and it takes itself for alone
   * until it meets somebody again.
   */
  opened(): void {
    if (this.#hasWritten || this.#underWay > 0) return;
    this.#endTurn();
    this.#turnsLeft = 0;
    this.#losses = 0;
  }

  lost(): void {
    this.#losses++;
    this.#turnsLeft = QUIET_TURNS;
  }

  /** The trajectory was read again; whether somebody else has written meanwhile. */
  read(met: boolean): void {
    if (met) this.#turnsLeft = QUIET_TURNS;
    else if (this.#turnsLeft > 0) this.#turnsLeft--;
    const took = this.#now() - this.#begin;
    if (this.#end !== undefined) this.#lasts(Math.min(Math.max(took * TURN_READINGS, TURN_MS_MIN), TURN_MS_MAX));
  }

  /** To be called before the trajectory is read again, so that what is read is not old already. @throws what the store throws */
  async letIn(): Promise<void> {
    this.#endTurn();
    if (this.#takeTurn === undefined) {
      if (this.#losses > 0) await this.#pause(0, PAUSE_MS * 2 ** (Math.min(this.#losses, LOSSES_MAX) - 1));
    } else if (this.#turnsLeft > 0) {
      // Where others keep theirs for too long, it is tried without.
      this.#end = (await this.#takeTurn()) ?? NOTHING;
      this.#begin = this.#now();
      // Also where reading fails.
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
