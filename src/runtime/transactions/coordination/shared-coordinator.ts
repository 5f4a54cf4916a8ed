import { setImmediate as nextTurn } from 'node:timers/promises';
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
import type { EffectStore, Happening, Membership, Said } from '#ledger';
import { tenureLost } from '../../writer/tenure-lost.ts';
import type { Coordination } from './coordination.ts';
import { openTransactions } from './read-open.ts';

/** Renewals and checks for ended members per lease. */
const LOOKS = 5;
/** The part of a lease in which no work starts: clocks differ in speed, and messages take time. */
const MARGIN = 0.2;

interface Saying {
  readonly said: Said;
  /** Receives the outcome of the event here. */
  readonly heard: (outcome: unknown) => void;
  readonly fail: (error: unknown) => void;
}

export interface BesideOptions {
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
export class Beside implements Coordination {
  readonly fence: number;
  readonly #options: BesideOptions;
  readonly #shared: SharedWork;
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;
  /** The timer for a lease that ends before the next check. */
  #lastTimer: NodeJS.Timeout | undefined;
  /** Epochs that are active in this process. */
  readonly #atWork = new Set<number>();
  readonly #saying: Saying[] = [];
  /** Published events without a response yet. */
  #said: readonly Saying[] = [];
  /** Number of waits for a frontier. */
  #waiting = 0;
  #heard = 0;
  /** The exchange in progress, and the next one. */
  #now: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #isToLook = true;
  /** By the process clock: no other member adopts before this time. */
  #sureUntil = 0;
  /** From this time on, another member may adopt. */
  #leaseUntil: number;
  #takeUp: (epoch: number) => void = () => undefined;
  #tellLeft: (epoch: number) => void = () => undefined;
  #isTakingUp = false;

  private constructor(options: BesideOptions) {
    this.#options = options;
    this.fence = options.membership.fence;
    this.#shared = new SharedWork(this.fence, 0, options.isOrdered);
    this.#leaseUntil = performance.now() + options.leaseMs;
    this.#timer = setInterval(() => this.#look(), options.leaseMs / LOOKS).unref();
  }

  /**
   * Applies the events of all active transactions before it returns. @throws EffectError
   * `tenure_lost`
   */
  static async join(options: BesideOptions): Promise<Beside> {
    const beside = new Beside(options);
    options.membership.onNews(() => beside.#exchangeSoon());
    await beside.#exchangeSoon();
    beside.#throwIfLost();
    return beside;
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  takeUp(goOn: (epoch: number) => void, left: (epoch: number) => void = () => undefined): void {
    this.#takeUp = goOn;
    this.#tellLeft = left;
    this.#isTakingUp = true;
    this.#goOn();
    for (const epoch of this.left()) left(epoch);
  }

  async begin(claims: readonly Claim[]): Promise<Work> {
    return (await this.#say({ is: 'begun', claims: claimsText(claims) })) as Work;
  }

  async expand(work: Work, claims: readonly Claim[]): Promise<Stale | undefined> {
    const { epoch } = work;
    const stale = (await this.#say({ is: 'grown', epoch, claims: claimsText(claims) })) as Stale | undefined;
    if (stale !== undefined && this.#shared.workOf(epoch) !== undefined)
      this.#tell({ is: 'given', epoch, claims: claimsText(claims) });
    return stale;
  }

  async release({ epoch }: Work, claims: readonly Claim[]): Promise<void> {
    await this.#say({ is: 'given', epoch, claims: claimsText(claims) });
  }

  whenClear(work: Work, claims: readonly Claim[], signal?: AbortSignal): Promise<void> {
    return this.#waited(signal, (either) => this.#shared.coordinator.whenClear(work, claims, either));
  }

  enter(work: Work, claims: readonly Claim[], signal?: AbortSignal): Promise<void> {
    return this.#waited(signal, (either) => this.#shared.coordinator.enter(work, claims, either));
  }

  async #waited(signal: AbortSignal | undefined, wait: (signal: AbortSignal) => Promise<void>): Promise<void> {
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
    const say = (): void => this.#tell({ is: 'ended', epoch });
    // If the log write fails, no process continues from here. The next owner, possibly this
    // process, reads the log.
    durable.then(say, (error) => this.#lose(tenureLost(error)));
  }

  async leave(epoch: number, kept?: readonly Claim[]): Promise<void> {
    await this.#say({ is: 'left', epoch, ...(kept && { claims: claimsText(kept) }) });
  }

  async own(epoch: number): Promise<boolean> {
    return (await this.#say({ is: 'own', epoch })) as boolean;
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

  giveUp(why: unknown): void {
    this.#lose(why);
  }

  sure(): Promise<void> | undefined {
    this.#throwIfLost();
    return performance.now() < this.#sureUntil ? undefined : this.#beSure();
  }

  async #beSure(): Promise<void> {
    while (performance.now() >= this.#sureUntil) {
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
  #say(said: Said): Promise<unknown> {
    this.#throwIfLost();
    return new Promise((heard, fail) => {
      this.#saying.push({ said, heard, fail });
      void this.#exchangeSoon();
    });
  }

  /**
   * Publishes an event without a wait. If the event is not applied, the membership is lost with all
   * transactions of this member.
   */
  #tell(said: Said): void {
    if (!this.lost.aborted) this.#say(said).catch(() => undefined);
  }

  #look(): void {
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
      this.#lose(
        tenureLost(new Error(`the store has not answered for ${this.#options.leaseMs} ms, which is the lease`)),
      );
    else if (leftMs <= this.#options.leaseMs / LOOKS) {
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
    const saying = this.#saying.splice(0);
    this.#said = saying;
    const look = this.#isToLook;
    this.#isToLook = false;
    const asked = performance.now();
    try {
      const happened = await membership.exchange(
        this.#heard,
        saying.map(({ said }) => said),
        look,
      );
      if (happened === undefined) throw tenureLost(this.#whyEnded());
      this.#sureUntil = asked + leaseMs * (1 - MARGIN);
      this.#leaseUntil = asked + leaseMs;
      const resumed = await this.#claimsOfResumed(happened);
      const mineFrom = happened.length - saying.length;
      for (const [i, each] of happened.entries()) {
        const outcome = this.#hear(each, i >= mineFrom, resumed);
        this.#heard = each.seq;
        saying[i - mineFrom]?.heard(outcome);
      }
      this.#goOn();
    } catch (error) {
      this.#lose(error instanceof EffectError ? error : tenureLost(error));
    } finally {
      this.#said = [];
    }
  }

  #whyEnded(): unknown {
    const { membership, leaseMs } = this.#options;
    return (
      membership.whyEnded?.() ??
      new Error(
        `the store counts this process as gone; it does so where nothing was heard of one for its lease of ${leaseMs} ms`,
      )
    );
  }

  /**
   * The claims by epoch, all in one read. A transaction that has ended since has none: no step of
   * it is left.
   */
  async #claimsOfResumed(happened: readonly Happening[]): Promise<ReadonlyMap<number, readonly Claim[]>> {
    const claims = new Map<number, readonly Claim[]>();
    const resumed = new Set(happened.flatMap((each) => (each.is === 'resumed' ? [each.epoch] : [])));
    if (resumed.size === 0) return claims;
    for await (const logged of openTransactions(this.#options.store))
      if (resumed.has(logged.epoch)) claims.set(logged.epoch, claimsOf(readTransaction(logged)));
    return claims;
  }

  #hear(happening: Happening, isMine: boolean, resumed: ReadonlyMap<number, readonly Claim[]>): unknown {
    const shared = this.#shared;
    switch (happening.is) {
      case 'begun':
        if (isMine) this.#atWork.add(happening.epoch);
        return shared.begun(happening.epoch, happening.fence, readClaims(happening.claims), isMine);
      case 'resumed':
        return shared.begun(happening.epoch, happening.fence, resumed.get(happening.epoch) ?? [], false);
      case 'grown':
        return shared.grown(happening.epoch, readClaims(happening.claims));
      case 'given':
        return shared.given(happening.epoch, readClaims(happening.claims));
      case 'left':
        this.#atWork.delete(happening.epoch);
        shared.leave(happening.epoch, happening.claims === undefined ? undefined : readClaims(happening.claims));
        if (!isMine) this.#tellLeft(happening.epoch);
        return undefined;
      case 'own': {
        const isOwned = shared.owned(happening.epoch, happening.fence);
        if (isOwned && isMine) this.#atWork.add(happening.epoch);
        return isOwned;
      }
      case 'ended':
        this.#atWork.delete(happening.epoch);
        return shared.ended(happening.epoch);
      case 'taken':
        return shared.taken(happening.gone, happening.fence);
    }
  }

  /** Resumes transactions that now belong to this member and belonged to another one. */
  #goOn(): void {
    if (!this.#isTakingUp) return;
    for (const epoch of [...this.#shared.mine()]) {
      if (this.#atWork.has(epoch)) continue;
      this.#atWork.add(epoch);
      this.#takeUp(epoch);
    }
  }

  #lose(why: unknown): void {
    if (this.lost.aborted) return;
    this.#stopLooking();
    this.#lost.abort(why);
    for (const { fail } of [...this.#said, ...this.#saying.splice(0)]) fail(why);
  }

  #throwIfLost(): void {
    if (this.lost.aborted) throw this.lost.reason;
  }
}
