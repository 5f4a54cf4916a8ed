import { TransientMap } from '#base';
import { ActIndex } from './act-index.ts';
import { ClaimIndex, type Registration } from './claim-index.ts';
import type { Claim } from './scopes.ts';

/** Active work with claims on resources. */
export interface Work {
  /** From 1, assigned once. */
  readonly epoch: number;
  /** The scopes that the work may access. */
  readonly claims: readonly Claim[];
}

/** The reason why work cannot claim a scope: work with a higher epoch has already acted there. */
export interface Stale {
  readonly epoch: number;
  /** The epoch of that work. */
  readonly by: number;
  readonly claim: Claim;
}

/**
 * Decides which work may act on which resources. The *frontier* of a resource is the lowest epoch
 * of active conflicting work there, including the caller's own. Work may act when the frontier has
 * reached its epoch (Atomix §3.2 and §4.2; docs/decisions/015-effect-order.md).
 *
 * Conflicting work therefore acts in epoch order and waits only for lower epochs. The lowest epoch
 * never waits, so deadlocks are impossible.
 *
 * All state is in memory. `resume` adds the active work of other or earlier processes, from the
 * effect log.
 */
export class Coordinator {
  /** The claims of active work. */
  readonly #claims = new ClaimIndex();
  /** Acts on scopes that active work with a lower epoch may still claim. */
  readonly #acts = new ActIndex();
  readonly #live = new TransientMap<number, LiveWork>();
  /** Callbacks to run when work ends or releases claims, by its epoch. */
  readonly #waiting = new TransientMap<number, Set<() => void>>();
  readonly #isOrdered: boolean;
  #last: number;
  /** The lowest epoch of active work is not lower than this. */
  #oldest: number;

  /**
   * `last`: the last assigned epoch; the next is greater by one. `isOrdered`: false if work never
   * waits.
   */
  constructor(last = 0, isOrdered = true) {
    this.#last = last;
    this.#oldest = last + 1;
    this.#isOrdered = isOrdered;
  }

  /** The last assigned epoch. */
  get last(): number {
    return this.#last;
  }

  /**
   * A lower bound of all active epochs. One more than the last assigned epoch if no work is active.
   */
  get oldest(): number {
    return this.#oldest;
  }

  /**
   * Assigns an epoch and registers the claims in one step, so an assigned epoch is always visible.
   */
  begin(claims: readonly Claim[]): Work {
    this.#last++;
    return this.#register(this.#last, claims);
  }

  /**
   * Registers active work under its existing epoch. Must be called before work with a higher epoch
   * acts.
   */
  resume(epoch: number, claims: readonly Claim[]): Work {
    this.#last = Math.max(this.#last, epoch);
    this.#oldest = Math.min(this.#oldest, epoch);
    return this.#register(epoch, claims);
  }

  /** Adds claims. Adds none of them if work with a higher epoch has already acted there. */
  expand(work: Work, claims: readonly Claim[]): Stale | undefined {
    for (const claim of this.#isOrdered ? claims : []) {
      const by = this.#acts.greatest(claim);
      if (by > work.epoch) return { epoch: work.epoch, by, claim };
    }
    this.claim(work, claims);
    return undefined;
  }

  /** Registers more claims of active work. The caller has ensured that the claims are not stale. */
  claim(work: Work, claims: readonly Claim[]): void {
    const live = this.#live.get(work.epoch);
    if (live !== undefined) for (const claim of claims) this.#claim(live, claim);
  }

  /** The lowest epoch that must end or release claims before this work may act by that claim. */
  blocker(work: Work, claim: Claim): number | undefined {
    const frontier = this.#claims.least(claim);
    return frontier < work.epoch ? frontier : undefined;
  }

  /**
   * Resolves when the work may act by these claims, by default by all its claims. @throws the
   * signal's reason
   */
  whenClear(
    work: Work,
    claims: readonly Claim[] = work.claims,
    signal?: AbortSignal,
  ): Promise<void> {
    return this.#inOrder(work, claims, signal, () => undefined);
  }

  /**
   * Same as `whenClear`, and records the acts (`acts`) in the same step, so work with a lower epoch
   * cannot claim in between. @throws the signal's reason
   */
  acquire(work: Work, claims: readonly Claim[], signal?: AbortSignal): Promise<void> {
    return this.#inOrder(work, claims, signal, () => this.#act(work, claims));
  }

  /**
   * Same as `enter` without waiting. Returns false and records nothing if other work blocks a
   * claim.
   */
  tryAcquire(work: Work, claims: readonly Claim[]): boolean {
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
    for (const claim of claims) this.recordAct(work, claim);
  }

  /**
   * Records that the work acts by a granted claim. Work with a lower epoch that claims the scope
   * later is stale.
   */
  recordAct(work: Work, claim: Claim): void {
    if (this.#oldest < work.epoch) this.#acts.add(work.epoch, claim, this.#oldest);
  }

  /** Releases claims before the work ends. */
  release(work: Work, claims: readonly Claim[]): void {
    const live = this.#live.get(work.epoch);
    if (live === undefined) return;
    for (const claim of claims) {
      const registration = live.remove(claim);
      if (registration !== undefined) this.#claims.delete(registration);
    }
    this.#wake(work.epoch);
  }

  /** Ends the work and releases its claims. All its effects must be settled or compensated. */
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
   * The epoch to wait for. All blocking work must end, and the highest epoch usually ends last. Of
   * many waiters in one queue, only the next one wakes up.
   */
  #blockerOf({ epoch }: Work, claims: readonly Claim[]): number | undefined {
    if (!this.#isOrdered) return undefined;
    for (const claim of claims)
      if (this.#claims.least(claim) < epoch) return this.#claims.latestBefore(claim, epoch);
    return undefined;
  }

  #changeOf(epoch: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(epoch) ?? new Set();
      this.#waiting.set(epoch, waiting);
      const wake = (): void => {
        signal?.removeEventListener('abort', wake);
        // A cancelled wait leaves no state, even while the awaited work continues.
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
  /** The claims as a list, cached until the next change. */
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

  /** Undefined if the work does not have the claim. */
  remove(claim: Claim): Registration | undefined {
    const registration = this.#registrations.get(claim);
    this.#registrations.delete(claim);
    this.#claims = undefined;
    return registration;
  }
}
