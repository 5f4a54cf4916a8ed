import type { Pause } from '#oracle';

/** How long a try may seem to take, and what is taken for it at first. */
const TRY_MS_MIN = 1;
const TRY_MS_MAX = 200;
const TRY_MS = 4;

/** In tries: what is left to others after an append, so that each of a few has a turn. */
const TURN_MIN = 4;
const TURN_MAX = 8;

/** Losses in a row after which pauses grow no further: who never lost does not wait either. */
const LOSSES_MAX = 5;

/** Of the crowding, after an append; and what of it counts for nothing, so that after a few alone there are no more pauses. */
const CROWDING_KEPT = 0.8;
const CROWDING_MIN = 0.25;
const CROWDING_MAX = 8;

/** In tries: others have had their turns by then, however many they are, and of whether they are still there nothing is known. */
const IDLE = 2 * TURN_MAX * CROWDING_MAX;

/**
 * What a writer knows of others who write to its trajectory, and how it gets along with them. Of those who meet, one always
 * wins; so that it is not the same one each time, whoever has written leaves room for a few others, and whoever has lost
 * tries again soon, and later each further time. All of it is measured in tries, so that slow machines have longer pauses.
 * A writer that is alone never pauses, nor does one that has had nothing to write for long.
 */
export class Company {
  readonly #pause: Pause;
  readonly #now: () => number;
  /** How much others are in the way: more by one with each loss, less by a part with each append. */
  #crowding = 0;
  /** How often another writer was faster, since an append was the last time. */
  #losses = 0;
  /** Since the trajectory was read. */
  #hasWritten = false;
  /** How long it took from reading to the answer to an append, the last time. */
  #tryMs = TRY_MS;
  #readAt: number | undefined;
  /** When it last heard of itself or others. */
  #heardAt: number | undefined;

  /** `now`: in milliseconds, from whenever. */
  constructor(pause: Pause, now: () => number = () => performance.now()) {
    this.#pause = pause;
    this.#now = now;
  }

  /** Whether it is the turn of others. */
  get isTheirTurn(): boolean {
    return this.#hasWritten && this.#crowding > 0 && !this.#isIdle(this.#now());
  }

  won(): void {
    // A writer that was always alone has no use for the time.
    if (this.#heardAt !== undefined) this.#answered();
    this.#losses = 0;
    this.#hasWritten = true;
    this.#crowding = this.#crowding < CROWDING_MIN ? 0 : this.#crowding * CROWDING_KEPT;
  }

  lost(): void {
    this.#answered();
    this.#losses++;
    this.#crowding = Math.min(this.#crowding + 1, CROWDING_MAX);
  }

  /** Somebody else has written. */
  met(): void {
    this.#heard(this.#now());
    this.#crowding = Math.max(this.#crowding, 1);
  }

  /** To be called before the trajectory is read again, so that what is read is not old already. */
  async letIn(): Promise<void> {
    this.#heard(this.#now());
    const turn = this.#tryMs * Math.max(this.#crowding, 1);
    if (this.#losses > 0) await this.#pause(0, this.#tryMs * 2 ** (Math.min(this.#losses, LOSSES_MAX) - 2));
    else if (this.isTheirTurn) await this.#pause(turn * TURN_MIN, turn * TURN_MAX);
    this.#hasWritten = false;
    this.#readAt = this.#now();
  }

  #answered(): void {
    const now = this.#now();
    this.#heard(now);
    if (this.#readAt === undefined) return;
    const ms = now - this.#readAt;
    // What took longer was no try: nobody had anything to write.
    if (ms <= TRY_MS_MAX) this.#tryMs = Math.max(ms, TRY_MS_MIN);
    this.#readAt = undefined;
  }

  /** After a long time without a word begins anew. */
  #heard(now: number): void {
    if (this.#isIdle(now)) {
      this.#crowding = 0;
      this.#losses = 0;
    }
    this.#heardAt = now;
  }

  #isIdle(now: number): boolean {
    return this.#heardAt !== undefined && now - this.#heardAt > IDLE * this.#tryMs;
  }
}
