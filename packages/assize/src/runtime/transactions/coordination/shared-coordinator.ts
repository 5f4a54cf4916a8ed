import { setImmediate as nextTurn } from 'node:timers/promises';
import { isInstance } from '#base';
import {
  type Claim,
  claimsOf,
  claimsText,
  EffectError,
  readClaims,
  readTransaction,
  SharedWork,
  type Stale,
  type Work,
} from '#effects';
import type { EffectStore, Membership, MembershipEvent, OrderedEvent } from '#ledger';
import { leaseLost } from '../../writer/append-errors.ts';
import type { Coordination } from './coordination.ts';
import { openTransactions } from './read-all.ts';

/** Renewals and checks for ended members per lease. */
const CHECKS_PER_LEASE = 5;
/** The part of a lease in which no work starts: clocks differ in speed, and messages take time. */
const LEASE_MARGIN = 0.2;

interface PublishedEvent {
  readonly said: MembershipEvent;
  /** Receives the outcome of the event here. */
  readonly heard: (outcome: unknown) => void;
  readonly fail: (error: unknown) => void;
}

export interface SharedCoordinatorOptions {
  readonly membership: Membership;
  readonly store: EffectStore;
  readonly leaseMs: number;
  readonly isOrdered: boolean;
}

/**
 * A group member of a store's effect log. Its events go to the store together with other pending
 * events. They take effect here when they are applied, in the order in which all members apply
 * them. Each exchange renews the lease. After a lease without an exchange, another member adopts
 * the transactions; this one notices at its next write at the latest.
 */
export class SharedCoordinator implements Coordination {
  readonly fence: number;
  readonly #options: SharedCoordinatorOptions;
  readonly #shared: SharedWork;
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;
  /** The timer for a lease that ends before the next check. */
  #lastTimer: NodeJS.Timeout | undefined;
  /** Epochs that are active in this process. */
  readonly #active = new Set<number>();
  readonly #unpublished: PublishedEvent[] = [];
  /** Published events without a response yet. */
  #publishing: readonly PublishedEvent[] = [];
  /** Number of waits for a frontier. */
  #waiting = 0;
  #applied = 0;
  /** The exchange in progress, and the next one. */
  #now: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #isToLook = true;
  /** By the process clock: no other member adopts before this time. */
  #leaseCertainUntil = 0;
  /** From this time on, another member may adopt. */
  #leaseUntil: number;
  #takeUp: (epoch: number) => void = () => undefined;
  #tellLeft: (epoch: number) => void = () => undefined;
  #isTakingUp = false;

  private constructor(options: SharedCoordinatorOptions) {
    this.#options = options;
    this.fence = options.membership.fence;
    this.#shared = new SharedWork(this.fence, 0, options.isOrdered);
    this.#leaseUntil = performance.now() + options.leaseMs;
    this.#timer = setInterval(() => this.#renew(), options.leaseMs / CHECKS_PER_LEASE).unref();
  }

  /**
   * Applies the events of all active transactions before it returns. @throws EffectError
   * `lease_lost`
   */
  static async join(options: SharedCoordinatorOptions): Promise<SharedCoordinator> {
    const beside = new SharedCoordinator(options);
    options.membership.onEvents(() => beside.#exchangeSoon());
    await beside.#exchangeSoon();
    beside.#throwIfLost();
    return beside;
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  onResumable(
    goOn: (epoch: number) => void,
    left: (epoch: number) => void = () => undefined,
  ): void {
    this.#takeUp = goOn;
    this.#tellLeft = left;
    this.#isTakingUp = true;
    this.#resume();
    for (const epoch of this.parked()) left(epoch);
  }

  async begin(claims: readonly Claim[]): Promise<Work> {
    return (await this.#publish({ is: 'begun', claims: claimsText(claims) })) as Work;
  }

  async expand(work: Work, claims: readonly Claim[]): Promise<Stale | undefined> {
    const { epoch } = work;
    const stale = (await this.#publish({ is: 'grown', epoch, claims: claimsText(claims) })) as
      | Stale
      | undefined;
    if (stale !== undefined && this.#shared.workOf(epoch) !== undefined)
      this.#publishAndForget({ is: 'given', epoch, claims: claimsText(claims) });
    return stale;
  }

  async release({ epoch }: Work, claims: readonly Claim[]): Promise<void> {
    await this.#publish({ is: 'given', epoch, claims: claimsText(claims) });
  }

  whenClear(work: Work, claims: readonly Claim[], signal?: AbortSignal): Promise<void> {
    return this.#waited(signal, (either) =>
      this.#shared.coordinator.whenClear(work, claims, either),
    );
  }

  acquire(work: Work, claims: readonly Claim[], signal?: AbortSignal): Promise<void> {
    return this.#waited(signal, (either) => this.#shared.coordinator.acquire(work, claims, either));
  }

  async #waited(
    signal: AbortSignal | undefined,
    wait: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const either = signal === undefined ? this.lost : AbortSignal.any([signal, this.lost]);
    // The wait may be for another process, and nothing else here may keep this process alive.
    if (this.#waiting++ === 0) this.#timer.ref();
    try {
      await wait(either);
    } finally {
      if (--this.#waiting === 0) this.#timer.unref();
    }
  }

  end(epoch: number, durable: Promise<unknown>): void {
    const work = this.#shared.workOf(epoch);
    if (work !== undefined) this.#shared.coordinator.end(work);
    const say = (): void => this.#publishAndForget({ is: 'ended', epoch });
    // If the log write fails, no process continues from here. The next owner, possibly this
    // process, reads the log.
    durable.then(say, (error) => this.#onLeaseLost(leaseLost(error)));
  }

  async park(epoch: number, kept?: readonly Claim[]): Promise<void> {
    await this.#publish({ is: 'left', epoch, ...(kept && { claims: claimsText(kept) }) });
  }

  async adopt(epoch: number): Promise<boolean> {
    return (await this.#publish({ is: 'own', epoch })) as boolean;
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

  abandon(why: unknown): void {
    this.#onLeaseLost(why);
  }

  confirmLease(): Promise<void> | undefined {
    this.#throwIfLost();
    return performance.now() < this.#leaseCertainUntil ? undefined : this.#confirmLease();
  }

  async #confirmLease(): Promise<void> {
    while (performance.now() >= this.#leaseCertainUntil) {
      await this.#exchangeSoon();
      this.#throwIfLost();
    }
  }

  async close(): Promise<void> {
    this.#stopLooking();
    // Publishes the end of transactions that were logged just now.
    await nextTurn();
    await this.#exchangeSoon();
  }

  /** Publishes an event and returns its outcome here, when it is applied. */
  #publish(said: MembershipEvent): Promise<unknown> {
    this.#throwIfLost();
    return new Promise((heard, fail) => {
      this.#unpublished.push({ said, heard, fail });
      void this.#exchangeSoon();
    });
  }

  /**
   * Publishes an event without a wait. If the event is not applied, the membership is lost with all
   * transactions of this member.
   */
  #publishAndForget(said: MembershipEvent): void {
    if (!this.lost.aborted) this.#publish(said).catch(() => undefined);
  }

  #renew(): void {
    this.#checkLease();
    if (this.lost.aborted) return;
    this.#isToLook = true;
    void this.#exchangeSoon();
  }

  /**
   * If nothing was applied for so long that others may adopt, exchanges in flight are abandoned
   * from that moment on.
   */
  #checkLease(): void {
    const leftMs = this.#leaseUntil - performance.now();
    if (leftMs <= 0)
      this.#onLeaseLost(
        leaseLost(
          new Error(
            `the store did not answer for ${this.#options.leaseMs} ms, the length of the lease`,
          ),
        ),
      );
    else if (leftMs <= this.#options.leaseMs / CHECKS_PER_LEASE) {
      clearTimeout(this.#lastTimer);
      this.#lastTimer = setTimeout(() => this.#checkLease(), Math.ceil(leftMs)).unref();
    }
  }

  #stopLooking(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#lastTimer);
  }

  /**
   * Resolves when all events published so far are applied; later events are not waited for. Never
   * rejects.
   */
  #exchangeSoon(): Promise<void> {
    this.#next ??= this.#exchangeAfter(this.#now);
    return this.#next;
  }

  async #exchangeAfter(before: Promise<void> | undefined): Promise<void> {
    await before;
    this.#now = this.#next;
    this.#next = undefined;
    if (!this.lost.aborted) await this.#exchange();
    this.#now = undefined;
  }

  async #exchange(): Promise<void> {
    const { membership, leaseMs } = this.#options;
    const saying = this.#unpublished.splice(0);
    this.#publishing = saying;
    const look = this.#isToLook;
    this.#isToLook = false;
    const asked = performance.now();
    try {
      const happened = await membership.exchange(
        this.#applied,
        saying.map(({ said }) => said),
        look,
      );
      if (happened === undefined) throw leaseLost(this.#whyEnded());
      this.#leaseCertainUntil = asked + leaseMs * (1 - LEASE_MARGIN);
      this.#leaseUntil = asked + leaseMs;
      const resumed = await this.#claimsOfResumed(happened);
      const mineFrom = happened.length - saying.length;
      for (const [i, each] of happened.entries()) {
        const outcome = this.#apply(each, i >= mineFrom, resumed);
        this.#applied = each.seq;
        saying[i - mineFrom]?.heard(outcome);
      }
      this.#resume();
    } catch (error) {
      this.#onLeaseLost(isInstance(error, EffectError) ? error : leaseLost(error));
    } finally {
      this.#publishing = [];
    }
  }

  #whyEnded(): unknown {
    const { membership, leaseMs } = this.#options;
    return (
      membership.whyEnded?.() ??
      new Error(
        `the store ended the membership of this process, because it was not renewed within its lease of ${leaseMs} ms`,
      )
    );
  }

  /**
   * The claims by epoch, all in one read. A transaction that has ended since has none: no step of
   * it is left.
   */
  async #claimsOfResumed(
    happened: readonly OrderedEvent[],
  ): Promise<ReadonlyMap<number, readonly Claim[]>> {
    const claims = new Map<number, readonly Claim[]>();
    const resumed = new Set(
      happened.flatMap((each) => (each.is === 'resumed' ? [each.epoch] : [])),
    );
    if (resumed.size === 0) return claims;
    for await (const logged of openTransactions(this.#options.store))
      if (resumed.has(logged.epoch)) claims.set(logged.epoch, claimsOf(readTransaction(logged)));
    return claims;
  }

  #apply(
    happening: OrderedEvent,
    isMine: boolean,
    resumed: ReadonlyMap<number, readonly Claim[]>,
  ): unknown {
    const shared = this.#shared;
    switch (happening.is) {
      case 'begun':
        if (isMine) this.#active.add(happening.epoch);
        return shared.register(
          happening.epoch,
          happening.fence,
          readClaims(happening.claims),
          isMine,
        );
      case 'resumed':
        return shared.register(
          happening.epoch,
          happening.fence,
          resumed.get(happening.epoch) ?? [],
          false,
        );
      case 'grown':
        return shared.claim(happening.epoch, readClaims(happening.claims));
      case 'given':
        return shared.release(happening.epoch, readClaims(happening.claims));
      case 'left':
        this.#active.delete(happening.epoch);
        shared.park(
          happening.epoch,
          happening.claims === undefined ? undefined : readClaims(happening.claims),
        );
        if (!isMine) this.#tellLeft(happening.epoch);
        return undefined;
      case 'own': {
        const isOwned = shared.adopt(happening.epoch, happening.fence);
        if (isOwned && isMine) this.#active.add(happening.epoch);
        return isOwned;
      }
      case 'ended':
        this.#active.delete(happening.epoch);
        return shared.end(happening.epoch);
      case 'taken':
        return shared.reassign(happening.gone, happening.fence);
    }
  }

  /** Resumes transactions that now belong to this member and belonged to another one. */
  #resume(): void {
    if (!this.#isTakingUp) return;
    for (const epoch of [...this.#shared.ownEpochs()]) {
      if (this.#active.has(epoch)) continue;
      this.#active.add(epoch);
      this.#takeUp(epoch);
    }
  }

  #onLeaseLost(why: unknown): void {
    if (this.lost.aborted) return;
    this.#stopLooking();
    this.#lost.abort(why);
    for (const { fail } of [...this.#publishing, ...this.#unpublished.splice(0)]) fail(why);
  }

  #throwIfLost(): void {
    if (this.lost.aborted) throw this.lost.reason;
  }
}
