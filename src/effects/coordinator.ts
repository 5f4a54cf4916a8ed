import { ChurnMap } from '#base';
import { ActIndex } from './act-index.ts';
import { ClaimIndex, type Registration } from './claim-index.ts';
import type { Claim } from './scopes.ts';

/** Live work: whatever has claims on resources. */
export interface Work {
  /** From 1, given once. */
  readonly epoch: number;
  /** What it may act on. */
  readonly claims: readonly Claim[];
}

/** Why work can't claim what it asks for: somebody who came after it has acted there already. */
export interface Stale {
  readonly epoch: number;
  /** Of whom came later and was faster. */
  readonly by: number;
  readonly claim: Claim;
}

/**
 * Who may act on which resources now. The *frontier* of a resource is the least epoch of live work that conflicts there, the
 * asker's own included; work may act where the frontier has come to its epoch (seed 003 §3.2 and §4.2; decisions §5.1). So
 * work that conflicts acts in the order of its epochs, and waits for what is older and for nothing else: the oldest waits for
 * nobody, and there is no deadlock.
 *
 * It is all in memory. What others, or an earlier process, have at work is put in by `resume`, from the effect log.
 */
export class Coordinator {
  /** By claims of live work. */
  readonly #claims = new ClaimIndex();
  /** Where work has acted, as long as older work is live that may still come there. */
  readonly #acts = new ActIndex();
  readonly #live = new ChurnMap<number, LiveWork>();
  /** Who is woken when work ends or gives something up, by its epoch. */
  readonly #waiting = new ChurnMap<number, Set<() => void>>();
  readonly #isOrdered: boolean;
  #last: number;
  /** No live work has a lesser epoch. */
  #oldest: number;

  /** `last`: the last epoch that was given; the next is greater by one. `isOrdered`: false where nobody is to wait for anybody. */
  constructor(last = 0, isOrdered = true) {
    this.#last = last;
    this.#oldest = last + 1;
    this.#isOrdered = isOrdered;
  }

  /** The last epoch that was given. */
  get last(): number {
    return this.#last;
  }

  /** No live work has a lesser epoch; greater by one than the last that was given where none is live. */
  get oldest(): number {
    return this.#oldest;
  }

  /** Gives an epoch and registers the claims at once: there is no moment at which it is given and not seen. */
  begin(claims: readonly Claim[]): Work {
    this.#last++;
    return this.#register(this.#last, claims);
  }

  /** Registers live work under the epoch that it has. To be called before anything of a greater epoch has acted. */
  resume(epoch: number, claims: readonly Claim[]): Work {
    this.#last = Math.max(this.#last, epoch);
    this.#oldest = Math.min(this.#oldest, epoch);
    return this.#register(epoch, claims);
  }

  /** Claims more; nothing of it where younger work has acted: what is older comes too late there. */
  expand(work: Work, claims: readonly Claim[]): Stale | undefined {
    for (const claim of this.#isOrdered ? claims : []) {
      const by = this.#acts.greatest(claim);
      if (by > work.epoch) return { epoch: work.epoch, by, claim };
    }
    this.claim(work, claims);
    return undefined;
  }

  /** Registers more claims of live work, of which somebody else has seen to it that they do not come too late. */
  claim(work: Work, claims: readonly Claim[]): void {
    const live = this.#live.get(work.epoch);
    if (live !== undefined) for (const claim of claims) this.#claim(live, claim);
  }

  /** The oldest work that has to end, or to give something up, before this one may act by that claim. */
  blocker(work: Work, claim: Claim): number | undefined {
    const frontier = this.#claims.least(claim);
    return frontier < work.epoch ? frontier : undefined;
  }

  /** Settles when the work may act by these claims, by default by all that it has. @throws the signal's reason */
  whenClear(work: Work, claims: readonly Claim[] = work.claims, signal?: AbortSignal): Promise<void> {
    return this.#inOrder(work, claims, signal, () => undefined);
  }

  /** The same, and notes that it acts by them (`acts`): nobody who is older can claim them in between. @throws the signal's reason */
  enter(work: Work, claims: readonly Claim[], signal?: AbortSignal): Promise<void> {
    return this.#inOrder(work, claims, signal, () => this.#act(work, claims));
  }

  /** The same without waiting: false, with nothing noted, where somebody is in the way. */
  enterNow(work: Work, claims: readonly Claim[]): boolean {
    const isClear = this.#blockerOf(work, claims) === undefined;
    if (isClear) this.#act(work, claims);
    return isClear;
  }

  async #inOrder(
    work: Work,
    claims: readonly Claim[],
    signal: AbortSignal | undefined,
    then: () => void,
  ): Promise<void> {
    for (;;) {
      signal?.throwIfAborted();
      const by = this.#blockerOf(work, claims);
      if (by === undefined) return then();
      await this.#changeOf(by, signal);
    }
  }

  #act(work: Work, claims: readonly Claim[]): void {
    for (const claim of claims) this.acts(work, claim);
  }

  /** Notes that the work acts by that claim, which it may: whoever is older and comes there later is stale. */
  acts(work: Work, claim: Claim): void {
    if (this.#oldest < work.epoch) this.#acts.add(work.epoch, claim, this.#oldest);
  }

  /** Gives claims up before the work ends. */
  release(work: Work, claims: readonly Claim[]): void {
    const live = this.#live.get(work.epoch);
    if (live === undefined) return;
    for (const claim of claims) {
      const registration = live.remove(claim);
      if (registration !== undefined) this.#claims.delete(registration);
    }
    this.#wake(work.epoch);
  }

  /** All that the work did is settled or compensated, and its claims are free. */
  end(work: Work): void {
    const { epoch } = work;
    const live = this.#live.get(epoch);
    if (live === undefined) return;
    for (const registration of live.registrations) this.#claims.delete(registration);
    this.#live.delete(epoch);
    while (this.#oldest <= this.#last && !this.#live.has(this.#oldest)) this.#oldest++;
    this.#wake(epoch);
  }

  #register(epoch: number, claims: readonly Claim[]): Work {
    const live = new LiveWork(epoch);
    this.#live.set(epoch, live);
    for (const claim of claims) this.#claim(live, claim);
    return live;
  }

  #claim(live: LiveWork, claim: Claim): void {
    if (!live.has(claim)) live.add(this.#claims.add(live.epoch, claim));
  }

  /**
   * The one that is awaited. Each that is in the way has to go; the youngest of them goes last, mostly, so that of many who wait
   * in one queue only the next is woken.
   */
  #blockerOf({ epoch }: Work, claims: readonly Claim[]): number | undefined {
    if (!this.#isOrdered) return undefined;
    for (const claim of claims) if (this.#claims.least(claim) < epoch) return this.#claims.latestBefore(claim, epoch);
    return undefined;
  }

  #changeOf(epoch: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(epoch) ?? new Set();
      this.#waiting.set(epoch, waiting);
      const wake = (): void => {
        signal?.removeEventListener('abort', wake);
        // Of those who waited in vain nothing is kept, however long that work goes on.
        waiting.delete(wake);
        resolve();
      };
      waiting.add(wake);
      signal?.addEventListener('abort', wake);
    });
  }

  #wake(epoch: number): void {
    const waiting = this.#waiting.get(epoch);
    if (waiting === undefined) return;
    this.#waiting.delete(epoch);
    for (const wake of waiting) wake();
  }
}

class LiveWork implements Work {
  readonly epoch: number;
  readonly #registrations = new Map<Claim, Registration>();
  /** As a list, since they were changed last. */
  #claims: readonly Claim[] | undefined;

  constructor(epoch: number) {
    this.epoch = epoch;
  }

  get claims(): readonly Claim[] {
    this.#claims ??= [...this.#registrations.keys()];
    return this.#claims;
  }

  get registrations(): Iterable<Registration> {
    return this.#registrations.values();
  }

  has(claim: Claim): boolean {
    return this.#registrations.has(claim);
  }

  add(registration: Registration): void {
    this.#registrations.set(registration.claim, registration);
    this.#claims = undefined;
  }

  /** Undefined for what it has not. */
  remove(claim: Claim): Registration | undefined {
    const registration = this.#registrations.get(claim);
    this.#registrations.delete(claim);
    this.#claims = undefined;
    return registration;
  }
}
