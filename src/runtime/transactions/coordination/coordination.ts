import { type Claim, SharedWork, type Stale, type Work } from '#effects';

/** Who may act where now, for what this process has at work: by itself, or beside others. */
export interface Coordination {
  /** The fence under which it writes. */
  readonly fence: number;
  /**
   * Tells of each epoch that has no body and is this one's to go on with, now and later; and of each that another one has `left`. To be
   * called once.
   */
  takeUp(goOn: (epoch: number) => void, left: (epoch: number) => void): void;
  /** Gives an epoch and registers the claims, in one step that all see. @throws EffectError `tenure_lost` */
  begin(claims: readonly Claim[]): Promise<Work> | Work;
  /** Claims more, or says why not. @throws EffectError `tenure_lost` */
  expand(work: Work, claims: readonly Claim[]): Promise<Stale | undefined>;
  /**
   * Gives claims up before the work ends; settles when all hear that. Undefined where they have.
   *
   * @throws EffectError `tenure_lost`
   */
  release(work: Work, claims: readonly Claim[]): Promise<void> | undefined;
  /** Settles when the work may act by these claims. @throws the signal's reason; EffectError `tenure_lost` */
  whenClear(work: Work, claims: readonly Claim[], signal?: AbortSignal): Promise<void>;
  /** The same, and notes that it acts by them: who is older and claims them from then on is late. Undefined where it need not wait. */
  enter(work: Work, claims: readonly Claim[], signal?: AbortSignal): Promise<void> | undefined;
  /** Its claims are free; for those in other processes when the log has its end, which is when `durable` settles. */
  end(epoch: number, durable: Promise<unknown>): void;
  /** It waits for a person: nobody acts where it keeps claims, by default all that it has, and nobody waits. */
  leave(epoch: number, kept?: readonly Claim[]): Promise<void>;
  /** Goes on with what was left; false where somebody else does. */
  own(epoch: number): Promise<boolean>;
  /** The epoch of what waits for a person at a place. */
  doubtAt(claim: Claim): number | undefined;
  isLeft(epoch: number): boolean;
  /** Epochs that wait for a person, whoever had them. */
  left(): readonly number[];
  /** Before something is done that nobody else may do at the same time. @throws EffectError `tenure_lost` */
  sure(): Promise<void> | undefined;
  /** Aborted when somebody else may go on with what this one has at work. */
  readonly lost: AbortSignal;
  /** From now on somebody else may: nothing is begun here any more, and whoever waits is told why. */
  giveUp(why: unknown): void;
  /** Says nothing more. */
  close(): Promise<void>;
}

/** Who has a store to itself has nobody to ask. */
export class Alone implements Coordination {
  readonly fence: number;
  readonly #shared: SharedWork;
  readonly #lost = new AbortController();
  /** Tell those who wait for their turn that it does not come. */
  readonly #waiting = new Set<(why: unknown) => void>();

  /** `last`: the last epoch that was given. `open`: what work that has not ended has claimed, by the log. */
  constructor(fence: number, last: number, open: Iterable<Work>, isOrdered: boolean) {
    this.fence = fence;
    this.#shared = new SharedWork(fence, last, isOrdered);
    // All of it before anything begins.
    for (const { epoch, claims } of open) this.#shared.begun(epoch, fence, claims);
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  takeUp(goOn: (epoch: number) => void): void {
    for (const epoch of [...this.#shared.mine()]) goOn(epoch);
  }

  begin(claims: readonly Claim[]): Work {
    return this.#shared.begun(this.#shared.coordinator.last + 1, this.fence, claims);
  }

  async expand({ epoch }: Work, claims: readonly Claim[]): Promise<Stale | undefined> {
    return this.#shared.grown(epoch, claims);
  }

  release({ epoch }: Work, claims: readonly Claim[]): undefined {
    this.#shared.given(epoch, claims);
  }

  whenClear(work: Work, claims: readonly Claim[], signal?: AbortSignal): Promise<void> {
    const { coordinator } = this.#shared;
    const turn = coordinator.whenClear(work, claims, signal);
    const isClear = claims.every((claim) => coordinator.blocker(work, claim) === undefined);
    return isClear ? turn : this.#waited(turn);
  }

  enter(work: Work, claims: readonly Claim[], signal?: AbortSignal): Promise<void> | undefined {
    signal?.throwIfAborted();
    const { coordinator } = this.#shared;
    return coordinator.enterNow(work, claims) ? undefined : this.#waited(coordinator.enter(work, claims, signal));
  }

  // A signal of both would cost more than all else of a wait.
  async #waited(turn: Promise<void>): Promise<void> {
    const { promise: never, reject } = Promise.withResolvers<never>();
    this.#waiting.add(reject);
    if (this.lost.aborted) reject(this.lost.reason);
    try {
      await Promise.race([turn, never]);
    } finally {
      this.#waiting.delete(reject);
    }
  }

  /** Whoever waits for a turn here is told why it does not come: what they wait for is left to the log, and ends elsewhere. */
  giveUp(why: unknown): void {
    this.#lost.abort(why);
    for (const reject of this.#waiting) reject(why);
  }

  end(epoch: number): void {
    this.#shared.ended(epoch);
  }

  async leave(epoch: number, kept?: readonly Claim[]): Promise<void> {
    this.#shared.leave(epoch, kept);
  }

  async own(epoch: number): Promise<boolean> {
    return this.#shared.owned(epoch, this.fence);
  }

  doubtAt(claim: Claim): number | undefined {
    return this.#shared.doubtAt(claim);
  }

  isLeft(epoch: number): boolean {
    return this.#shared.isLeft(epoch);
  }

  left(): readonly number[] {
    return this.#shared.left();
  }

  sure(): undefined {
    this.lost.throwIfAborted();
    return undefined;
  }

  async close(): Promise<void> {}
}
