import { type Claim, SharedWork, type Stale, type Work } from '#effects';

/** Grants scope claims to the transactions of this process, in exclusive or shared mode. */
export interface Coordination {
  /** The fence of its writes. */
  readonly fence: number;
  /**
   * Reports each epoch without a body that this process must resume, now and later, and each epoch
   * that another process has `left`. Call this once.
   */
  onResumable(goOn: (epoch: number) => void, left: (epoch: number) => void): void;
  /**
   * Assigns an epoch and registers the claims, in one step that is visible to all. @throws
   * EffectError `lease_lost`
   */
  begin(claims: readonly Claim[]): Promise<Work> | Work;
  /** Claims more scopes, or returns why it cannot. @throws EffectError `lease_lost` */
  expand(work: Work, claims: readonly Claim[]): Promise<Stale | undefined>;
  /**
   * Releases claims before the work ends; resolves when all members have applied it. Returns
   * undefined if they already have.
   *
   * @throws EffectError `lease_lost`
   */
  release(work: Work, claims: readonly Claim[]): Promise<void> | undefined;
  /**
   * Resolves when the claims are granted. @throws the signal's reason; EffectError `lease_lost`
   */
  whenClear(work: Work, claims: readonly Claim[], signal?: AbortSignal): Promise<void>;
  /**
   * Same as `whenClear`, and records that the work acts on the claims: an older transaction that
   * claims them later is stale. Returns undefined if the claims are granted immediately.
   */
  acquire(work: Work, claims: readonly Claim[], signal?: AbortSignal): Promise<void> | undefined;
  /**
   * Releases the claims of ended work. Other processes see the release when `durable` resolves,
   * after the log has the end.
   */
  end(epoch: number, durable: Promise<unknown>): void;
  /**
   * Marks the work unresolved: the kept claims, by default all, block other work without a wait.
   */
  park(epoch: number, kept?: readonly Claim[]): Promise<void>;
  /** Resumes unresolved work. Returns false if another process owns it. */
  adopt(epoch: number): Promise<boolean>;
  /** The epoch of the unresolved work that blocks a claim. */
  doubtAt(claim: Claim): number | undefined;
  isParked(epoch: number): boolean;
  /** The unresolved epochs, of all processes. */
  parked(): readonly number[];
  /** Confirms the lease before an exclusive step. @throws EffectError `lease_lost` */
  confirmLease(): Promise<void> | undefined;
  /** Aborted when another process may resume the transactions of this one. */
  readonly lost: AbortSignal;
  /**
   * From now on, another process may resume them: no work starts here, and waits end with the
   * reason.
   */
  abandon(why: unknown): void;
  /** Publishes no further events. */
  close(): Promise<void>;
}

/** In exclusive mode every claim is granted locally. */
export class ExclusiveCoordinator implements Coordination {
  readonly fence: number;
  readonly #shared: SharedWork;
  readonly #lost = new AbortController();
  /** Callbacks that end a wait with the reason. */
  readonly #waiting = new Set<(why: unknown) => void>();

  /** `last`: the last assigned epoch. `open`: the logged claims of work that has not ended. */
  constructor(fence: number, last: number, open: Iterable<Work>, isOrdered: boolean) {
    this.fence = fence;
    this.#shared = new SharedWork(fence, last, isOrdered);
    // Registers all open work before new work starts.
    for (const { epoch, claims } of open) this.#shared.register(epoch, fence, claims);
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  onResumable(goOn: (epoch: number) => void): void {
    for (const epoch of [...this.#shared.ownEpochs()]) goOn(epoch);
  }

  begin(claims: readonly Claim[]): Work {
    return this.#shared.register(this.#shared.coordinator.last + 1, this.fence, claims);
  }

  async expand({ epoch }: Work, claims: readonly Claim[]): Promise<Stale | undefined> {
    return this.#shared.claim(epoch, claims);
  }

  release({ epoch }: Work, claims: readonly Claim[]): undefined {
    this.#shared.release(epoch, claims);
  }

  whenClear(work: Work, claims: readonly Claim[], signal?: AbortSignal): Promise<void> {
    const { coordinator } = this.#shared;
    const turn = coordinator.whenClear(work, claims, signal);
    const isClear = claims.every((claim) => coordinator.blocker(work, claim) === undefined);
    return isClear ? turn : this.#waited(turn);
  }

  acquire(work: Work, claims: readonly Claim[], signal?: AbortSignal): Promise<void> | undefined {
    signal?.throwIfAborted();
    const { coordinator } = this.#shared;
    return coordinator.tryAcquire(work, claims)
      ? undefined
      : this.#waited(coordinator.acquire(work, claims, signal));
  }

  // A combined signal would cost more than the rest of a wait.
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

  /** Waits end with the reason: their work stays in the log and ends in another process. */
  abandon(why: unknown): void {
    this.#lost.abort(why);
    for (const reject of this.#waiting) reject(why);
  }

  end(epoch: number): void {
    this.#shared.end(epoch);
  }

  async park(epoch: number, kept?: readonly Claim[]): Promise<void> {
    this.#shared.park(epoch, kept);
  }

  async adopt(epoch: number): Promise<boolean> {
    return this.#shared.adopt(epoch, this.fence);
  }

  doubtAt(claim: Claim): number | undefined {
    return this.#shared.doubtAt(claim);
  }

  isParked(epoch: number): boolean {
    return this.#shared.isParked(epoch);
  }

  parked(): readonly number[] {
    return this.#shared.parked();
  }

  confirmLease(): undefined {
    this.lost.throwIfAborted();
    return undefined;
  }

  async close(): Promise<void> {}
}
