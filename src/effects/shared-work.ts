import { ChurnMap } from '#base';
import { ClaimIndex, type Registration } from './claim-index.ts';
import { ClaimSet } from './claim-set.ts';
import { Coordinator, type Stale, type Work } from './coordinator.ts';
import type { Claim } from './scopes.ts';

interface Shared {
  readonly work: Work;
  claims: ClaimSet;
  /** Came too late, are not registered, and are to be given up. Undefined where none did. */
  late: ClaimSet | undefined;
  /** It was begun here, so that what it does is seen from here. */
  readonly isHere: boolean;
  /** Whose it is. */
  fence: number;
  /** It waits for a person, and nobody goes on with it. */
  isLeft: boolean;
  /** Where nobody acts before a person has decided, also while that is carried out. */
  doubts: Registration[];
}

/**
 * The live work of all who work on the effects of a store, as it follows from what they say of it, in one order that is the same for
 * all. Each has one of these: they agree at the same place in that order, so that who is younger waits for who is older wherever
 * that is at work. One that is alone says things to itself.
 *
 * It may lag behind: whoever is older was registered before one's own epoch was given, and so is known here. Who is older and
 * claims more later is stale where somebody younger was there first, also if that one has not acted yet, which is not seen from here.
 */
export class SharedWork {
  readonly coordinator: Coordinator;
  readonly #fence: number;
  readonly #doubts = new ClaimIndex();
  readonly #works = new ChurnMap<number, Shared>();

  /** `fence`: of whose view it is. `last`, `isOrdered`: as for a `Coordinator`. */
  constructor(fence: number, last = 0, isOrdered = true) {
    this.#fence = fence;
    this.coordinator = new Coordinator(last, isOrdered);
  }

  /** Epochs that are this one's to go on with. */
  *mine(): Iterable<number> {
    for (const [epoch, { fence, isLeft }] of this.#works) if (fence === this.#fence && !isLeft) yield epoch;
  }

  /** Epochs that wait for a person, whoever had them. */
  left(): number[] {
    return [...this.#works].filter(([, { isLeft }]) => isLeft).map(([epoch]) => epoch);
  }

  isLeft(epoch: number): boolean {
    return this.#works.get(epoch)?.isLeft === true;
  }

  workOf(epoch: number): Work | undefined {
    return this.#works.get(epoch)?.work;
  }

  /** The epoch of what waits for a person there. */
  doubtAt(claim: Claim): number | undefined {
    if (this.#doubts.size === 0) return undefined;
    const epoch = this.#doubts.least(claim);
    return Number.isFinite(epoch) ? epoch : undefined;
  }

  /**
   * `isHere`: by this one itself. What another one has begun that is gone since, and was taken over by this one before this one has
   * heard of it, is heard of as this one's.
   */
  begun(epoch: number, fence: number, claims: readonly Claim[], isHere = fence === this.#fence): Work {
    const work = this.coordinator.resume(epoch, claims);
    const shared = { work, claims: new ClaimSet(claims), late: undefined, isHere, fence, isLeft: false, doubts: [] };
    this.#works.set(epoch, shared);
    if (!isHere) this.#takeForDone(work, claims);
    return work;
  }

  /**
   * More claims, or why they come too late; where they do they are not registered here, and are to be given up. What it has already
   * does not come too late, also where somebody younger waits for it.
   */
  grown(epoch: number, claims: readonly Claim[]): Stale | undefined {
    const shared = this.#works.get(epoch);
    if (shared === undefined) return undefined;
    const { work, isHere } = shared;
    if (isHere) {
      const fresh = claims.filter((claim) => !shared.claims.covers(claim));
      const stale = this.coordinator.expand(work, fresh);
      if (stale !== undefined) {
        shared.late ??= new ClaimSet();
        for (const claim of claims) shared.late.add(claim);
        return stale;
      }
    }
    this.coordinator.claim(work, claims);
    if (!isHere) this.#takeForDone(work, claims);
    for (const claim of claims) shared.claims.add(claim);
    return undefined;
  }

  given(epoch: number, claims: readonly Claim[]): void {
    const shared = this.#works.get(epoch);
    if (shared === undefined) return;
    const released = claims.flatMap((claim) => {
      const isLate = shared.late?.take(claim) !== undefined;
      return isLate ? [] : (shared.claims.take(claim) ?? []);
    });
    this.coordinator.release(shared.work, released);
  }

  /**
   * It waits for a person: nobody waits for it, and nobody acts where it has claims. `kept`: those that it keeps, inside of what it has;
   * all else is free.
   */
  leave(epoch: number, kept?: readonly Claim[]): void {
    const shared = this.#works.get(epoch);
    if (shared === undefined) return;
    shared.isLeft = true;
    if (kept !== undefined) shared.claims = new ClaimSet(kept);
    for (const doubt of shared.doubts) this.#doubts.delete(doubt);
    shared.doubts = Array.from(shared.claims, (claim) => this.#doubts.add(epoch, claim));
    this.coordinator.end(shared.work);
  }

  /** Goes on with what was left, where no other does so already. */
  owned(epoch: number, fence: number): boolean {
    const shared = this.#works.get(epoch);
    if (shared?.isLeft !== true) return false;
    shared.isLeft = false;
    shared.fence = fence;
    return true;
  }

  ended(epoch: number): void {
    const shared = this.#works.get(epoch);
    if (shared === undefined) return;
    this.coordinator.end(shared.work);
    for (const doubt of shared.doubts) this.#doubts.delete(doubt);
    this.#works.delete(epoch);
  }

  /** All that was of `gone` is of another one now. */
  taken(gone: number, fence: number): void {
    for (const shared of this.#works.values()) if (shared.fence === gone) shared.fence = fence;
  }

  #takeForDone(work: Work, claims: readonly Claim[]): void {
    for (const claim of claims) this.coordinator.acts(work, claim);
  }
}
