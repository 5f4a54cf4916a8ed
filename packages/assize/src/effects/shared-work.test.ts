import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readScope } from '#authority';
import { cases } from '../../../../tests/support/cases.ts';
import type { Stale } from './coordinator.ts';
import { type Access, type Claim, conflicts, covers } from './scopes.ts';
import { SharedWork } from './shared-work.ts';

const claimOf = (scope: string, access: Access = 'write'): Claim => ({
  scope: readScope(scope),
  access,
});
const a = claimOf('r:/a');
const b = claimOf('r:/b');

describe('work that is shared', () => {
  test('every member sees the wait for older work of any member', () => {
    const [one, two] = [new SharedWork(1), new SharedWork(2)];
    for (const shared of [one, two]) {
      shared.register(1, 1, [a]);
      const work = shared.register(2, 2, [a, b]);
      expect([shared.coordinator.blocker(work, a), shared.coordinator.blocker(work, b)]).toEqual([
        1,
        undefined,
      ]);
      shared.end(1);
      expect(shared.coordinator.blocker(work, a)).toBeUndefined();
    }
  });

  test('of another member counts as acted once clear: late older work is stale', () => {
    const shared = new SharedWork(1);
    shared.register(1, 1, [b]);
    shared.register(2, 2, [a]);
    expect(shared.claim(1, [a])).toEqual({ epoch: 1, by: 2, claim: a });
    expect(shared.claim(1, [claimOf('r:/c')])).toBeUndefined();
  });

  test('of another member, adopted since, also counts as acted once clear', () => {
    const shared = new SharedWork(1);
    shared.register(1, 1, [b], true);
    shared.register(2, 1, [a], false);
    shared.reassign(2, 1);
    expect(shared.claim(1, [a])).toEqual({ epoch: 1, by: 2, claim: a });
  });

  test('of another member keeps its granted claims when it is reported as own', () => {
    const shared = new SharedWork(1);
    shared.register(1, 1, [b], false);
    shared.register(2, 1, [a], false);
    const work = shared.register(3, 1, [a], true);
    expect(shared.claim(1, [a])).toBeUndefined();
    shared.end(2);
    expect(shared.coordinator.blocker(work, a)).toBe(1);
  });

  test('that releases claims made too late keeps its earlier claims', () => {
    const shared = new SharedWork(1);
    shared.register(1, 1, [a]);
    shared.register(2, 2, [b]);
    const work = shared.register(3, 1, [a]);
    const again = claimOf('r:/a');
    expect(shared.claim(1, [again, b])).toMatchObject({ by: 2 });
    shared.release(1, [claimOf('r:/a'), claimOf('r:/b')]);
    expect(shared.coordinator.blocker(work, a)).toBe(1);
    shared.release(1, [claimOf('r:/a')]);
    expect(shared.coordinator.blocker(work, a)).toBeUndefined();
  });

  test('that repeats a claim is not stale because another transaction waits', () => {
    const shared = new SharedWork(1);
    shared.register(1, 1, [claimOf('r:/**')]);
    shared.register(2, 2, [a]);
    expect(shared.claim(1, [claimOf('r:/a', 'read'), claimOf('r:/a/x')])).toBeUndefined();
  });

  test('when parked, blocks its scopes until it ends, under any adopter', () => {
    const shared = new SharedWork(2);
    shared.register(1, 1, [a]);
    const work = shared.register(2, 2, [a]);
    shared.park(1);
    expect([shared.coordinator.blocker(work, a), shared.doubtAt(a), shared.parked()]).toEqual([
      undefined,
      1,
      [1],
    ]);
    expect([shared.adopt(1, 2), shared.adopt(1, 1)]).toEqual([true, false]);
    expect([shared.doubtAt(a), shared.isParked(1), [...shared.ownEpochs()]]).toEqual([
      1,
      false,
      [1, 2],
    ]);
    shared.park(1);
    shared.reassign(2, 3);
    expect([shared.doubtAt(a), [...shared.ownEpochs()]]).toEqual([1, []]);
    shared.end(1);
    expect([shared.doubtAt(a), shared.parked(), shared.workOf(1)]).toEqual([
      undefined,
      [],
      undefined,
    ]);
  });

  test('keeps only the given scopes when parked, fewer each time; frees the rest', () => {
    const shared = new SharedWork(1);
    const c = claimOf('r:/c');
    shared.register(1, 1, [claimOf('r:/**'), c]);
    const work = shared.register(2, 2, [a, b, c]);
    const doubts = (): unknown[] => [a, b, c].map((each) => shared.doubtAt(each));
    shared.park(1, [a, b]);
    expect([a, b, c].map((each) => shared.coordinator.blocker(work, each))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(doubts()).toEqual([1, 1, undefined]);
    shared.adopt(1, 1);
    expect(doubts()).toEqual([1, 1, undefined]);
    shared.park(1, [b]);
    expect(doubts()).toEqual([undefined, 1, undefined]);
    // Without `kept`: all claims that it still has.
    shared.adopt(1, 1);
    shared.park(1);
    expect(doubts()).toEqual([undefined, 1, undefined]);
    shared.end(1);
    expect(doubts()).toEqual([undefined, undefined, undefined]);
  });

  test('of an ended epoch belongs to no member', () => {
    const shared = new SharedWork(1);
    shared.register(1, 1, [a]);
    for (const told of [0, 1]) {
      shared.end(1);
      expect([shared.claim(1, [a]), shared.adopt(1, 1), told]).toEqual([undefined, false, told]);
      shared.release(1, [a]);
      shared.park(1);
      shared.reassign(1, 2);
    }
    expect([shared.doubtAt(a), shared.parked(), [...shared.ownEpochs()]]).toEqual([
      undefined,
      [],
      [],
    ]);
  });
});

/** An event as published: `fence` is the publisher, and `now` the present owner. */
type Event = { readonly fence: number; now: number } & (
  | { readonly is: 'begun'; readonly epoch: number; readonly claims: readonly Claim[] }
  /** `late`: its member learned that it is stale, or gives up what came too late. */
  | {
      readonly is: 'grown' | 'given';
      readonly epoch: number;
      readonly claims: readonly Claim[];
      late: boolean;
    }
  /** `kept`: the claims that it keeps, if not all. */
  | { readonly is: 'left'; readonly epoch: number; readonly kept?: readonly Claim[] }
  | { readonly is: 'own' | 'ended'; readonly epoch: number }
  | { readonly is: 'taken'; readonly gone: number }
);

interface Act {
  readonly epoch: number;
  readonly claim: Claim;
}

/** Work at one position of the event order, computed from the start. */
interface PlainWork {
  readonly epoch: number;
  readonly begunBy: number;
  fence: number;
  isLeft: boolean;
  hasBeenLeft: boolean;
  claims: Claim[];
  doubts: readonly Claim[];
}

/** `by`: the viewing member. Stale claims count in all other views until they are released. */
function plainWorks(order: readonly Event[], by: number): PlainWork[] {
  const works: PlainWork[] = [];
  for (const each of order) {
    if (each.is === 'begun') {
      const { epoch, fence, claims } = each;
      const began = {
        epoch,
        begunBy: fence,
        fence,
        isLeft: false,
        hasBeenLeft: false,
        claims: [...claims],
        doubts: [],
      };
      works.push(began);
    } else if (each.is === 'taken') {
      for (const work of works) if (work.fence === each.gone) work.fence = each.fence;
    } else {
      const work = works.find(({ epoch }) => epoch === each.epoch);
      if (work !== undefined) change(work, each, by, works);
    }
  }
  return works;
}

function change(
  work: PlainWork,
  each: Exclude<Event, { is: 'begun' | 'taken' }>,
  by: number,
  works: PlainWork[],
): void {
  if (each.is === 'grown' || each.is === 'given') {
    if (each.late && work.begunBy === by) return;
    if (each.is === 'grown') work.claims.push(...each.claims);
    for (const claim of each.is === 'given' ? each.claims : []) {
      const at = work.claims.findIndex(
        (one) => one.access === claim.access && one.scope.text === claim.scope.text,
      );
      if (at !== -1) work.claims.splice(at, 1);
    }
  } else if (each.is === 'left') {
    if (each.kept !== undefined) work.claims = [...each.kept];
    work.doubts = [...work.claims];
    work.isLeft = true;
    work.hasBeenLeft = true;
  } else if (each.is === 'own') {
    if (!work.isLeft) return;
    work.isLeft = false;
    work.fence = each.fence;
  } else works.splice(works.indexOf(work), 1);
}

/** A member that applies the events, with a delay. */
class Peer {
  readonly fence: number;
  readonly shared: SharedWork;
  /** The number of applied events. */
  at = 0;
  /** Events that the store has delivered and the member has not applied. */
  inbox: { readonly place: number; readonly event: Event }[] = [];
  /** Started here, and its body may continue. */
  readonly bodies = new Set<number>();
  /** Ended here, and not published yet. */
  readonly over = new Set<number>();
  /** Stale claims to release. */
  late: { readonly epoch: number; readonly claims: readonly Claim[] }[] = [];

  constructor(fence: number) {
    this.fence = fence;
    this.shared = new SharedWork(fence);
  }

  /** The result of the event, for its publisher. */
  hear(
    { place, event }: (typeof this.inbox)[number],
    isMine: boolean,
  ): Stale | boolean | undefined {
    this.at = place + 1;
    const { shared } = this;
    switch (event.is) {
      case 'begun':
        shared.register(event.epoch, event.now, event.claims, isMine);
        return undefined;
      case 'grown':
        return shared.claim(event.epoch, event.claims);
      case 'given':
        shared.release(
          event.epoch,
          event.claims.map((claim) => ({ ...claim })),
        );
        return undefined;
      case 'left':
        shared.park(event.epoch, event.kept);
        return undefined;
      case 'own':
        return shared.adopt(event.epoch, event.now);
      case 'ended':
        shared.end(event.epoch);
        return undefined;
      case 'taken':
        shared.reassign(event.gone, event.now);
        return undefined;
    }
  }
}

const SCOPES = ['r:/a', 'r:/a/x', 'r:/a/y', 'r:/b', 'r:/*', 'r:/a/**', 'r:**'];
const PROBES = SCOPES.flatMap((scope) => [claimOf(scope, 'read'), claimOf(scope, 'write')]);
const claim = fc.constantFrom(...PROBES).map(({ scope, access }) => ({ scope, access }));
const peer = fc.nat(2);
const which = fc.nat(7);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ begin: fc.array(claim, { maxLength: 2 }), peer }) },
  { weight: 8, arbitrary: fc.record({ act: which, by: fc.nat(3), peer }) },
  {
    weight: 4,
    arbitrary: fc.record({
      grow: which,
      claims: fc.array(claim, { minLength: 1, maxLength: 2 }),
      peer,
    }),
  },
  { weight: 1, arbitrary: fc.record({ give: which, by: fc.nat(3), peer }) },
  { weight: 1, arbitrary: fc.record({ leave: which, keeps: fc.option(fc.nat(3)), peer }) },
  { weight: 1, arbitrary: fc.record({ own: which, peer }) },
  { weight: 2, arbitrary: fc.record({ end: which, isSaid: fc.boolean(), peer }) },
  { weight: 6, arbitrary: fc.record({ hear: fc.integer({ min: 1, max: 4 }), peer }) },
  { weight: 1, arbitrary: fc.record({ die: fc.nat(1), peer }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/**
 * Members and the order in which they apply events. If one dies, another adopts its work and a new
 * one joins.
 */
class World {
  readonly #order: Event[] = [];
  #peers = [new Peer(1), new Peer(2), new Peer(3)];
  #lastFence = 3;
  #lastEpoch = 0;
  /** All acts, in order. */
  readonly #history: Act[] = [];
  /** The epochs with no work left, even before a peer has published their end. */
  readonly #done = new Set<number>();

  step(each: Step): void {
    const one = this.#peers[each.peer]!;
    if ('begin' in each) this.#begin(one, each.begin);
    else if ('act' in each) this.#act(one, each.act, each.by);
    else if ('grow' in each) this.#grow(one, each.grow, each.claims);
    else if ('give' in each) this.#give(one, each.give, each.by);
    else if ('leave' in each) this.#leave(one, each.leave, each.keeps);
    else if ('own' in each) this.#own(one, each.own);
    else if ('end' in each) this.#end(one, each.end, each.isSaid);
    else if ('hear' in each) this.#hear(one, each.hear);
    else this.#die(one, each.die);
    for (const other of this.#peers) this.#expectAgreed(other);
  }

  /** After all members have applied all events, they agree on every owner. */
  expectAgreed(): void {
    for (const one of this.#peers) {
      this.#hear(one, Number.POSITIVE_INFINITY);
      this.#hear(one, Number.POSITIVE_INFINITY);
      const mine = this.#works(one).filter(({ fence, isLeft }) => fence === one.fence && !isLeft);
      expect([...one.shared.ownEpochs()]).toEqual(mine.map(({ epoch }) => epoch));
    }
  }

  #begin(one: Peer, claims: readonly Claim[]): void {
    const epoch = ++this.#lastEpoch;
    one.bodies.add(epoch);
    this.#say(one, { is: 'begun', epoch, claims });
  }

  /**
   * A body acts by its claims. A peer that resumes another peer's transaction acts by the claims
   * that acted before.
   */
  #act(one: Peer, n: number, by: number): void {
    const work = pick(
      this.#at(one).filter(
        ({ epoch, fence, isLeft }) => fence === one.fence && !isLeft && !this.#done.has(epoch),
      ),
      n,
    );
    if (work === undefined || !one.shared.workOf(work.epoch)) return;
    const { epoch } = work;
    if (![...one.shared.ownEpochs()].includes(epoch)) return;
    const isBody = one.bodies.has(epoch);
    const acted = (one: Claim): boolean =>
      this.#history.some((act) => act.epoch === epoch && act.claim === one);
    const given = pick(isBody ? work.claims : work.claims.filter(acted), by);
    if (given === undefined) return;
    const { coordinator } = one.shared;
    const mine = one.shared.workOf(epoch)!;
    const isAgain = acted(given);
    if (
      !isAgain &&
      (coordinator.blocker(mine, given) !== undefined || one.shared.doubtAt(given) !== undefined)
    )
      return;
    this.#expectMayAct(epoch, given);
    coordinator.recordAct(mine, given);
    this.#history.push({ epoch, claim: given });
  }

  /** Checks by the whole event order, although the acting peer may not have applied all of it. */
  #expectMayAct(epoch: number, given: Claim): void {
    const older = plainWorks(this.#order, Number.NaN)
      .map((work) => plainWorks(this.#order, work.begunBy).find((own) => own.epoch === work.epoch)!)
      .filter((work) => work.epoch < epoch && !this.#done.has(work.epoch))
      .filter(({ claims }) => claims.some((one) => conflicts(one, given)));
    expect(older.map((work) => work.epoch)).toEqual([]);
    const younger = this.#history.filter((act) => act.epoch > epoch && conflicts(act.claim, given));
    expect(younger.map((act) => act.epoch)).toEqual([]);
  }

  #grow(one: Peer, n: number, claims: readonly Claim[]): void {
    const work = pick(this.#bodiesOf(one), n);
    if (work === undefined) return;
    const { epoch } = work;
    const event = { is: 'grown' as const, epoch, claims, late: false };
    // Work with a higher epoch was first: as seen from here, it has acted or may have.
    const before = [...this.#order];
    const fresh = claims.filter((asked) => !covers(work.claims, asked));
    const younger = before.flatMap((each) =>
      'claims' in each && each.is !== 'given' && each.epoch > epoch ? [each] : [],
    );
    const isLate = fresh.some(
      (asked) =>
        younger.some(
          (each) =>
            each.fence !== one.fence && each.claims.some((other) => conflicts(other, asked)),
        ) || this.#history.some((act) => act.epoch > epoch && conflicts(act.claim, asked)),
    );
    const stale = this.#say(one, event, isLate) as Stale | undefined;
    expect(stale !== undefined).toBe(isLate);
    if (stale === undefined) return;
    expect(stale).toMatchObject({ epoch });
    expect(stale.by).toBeGreaterThan(epoch);
    one.late.push({ epoch, claims });
  }

  #give(one: Peer, n: number, by: number): void {
    const work = pick(this.#bodiesOf(one), n);
    const given = work && pick(work.claims, by);
    if (given !== undefined)
      this.#say(one, { is: 'given', epoch: work!.epoch, claims: [given], late: false });
  }

  /** `keeps`: the kept claims, one bit each. */
  #leave(one: Peer, n: number, keeps: number | null): void {
    const work = pick(this.#goingOn(one), n);
    if (work === undefined) return;
    const { epoch, claims } = work;
    one.bodies.delete(epoch);
    const kept = keeps === null ? {} : { kept: claims.filter((_, i) => (keeps & (1 << i)) !== 0) };
    this.#say(one, { is: 'left', epoch, ...kept });
  }

  #own(one: Peer, n: number): void {
    const epoch = pick(one.shared.parked(), n);
    if (epoch === undefined) return;
    const isLeft = this.#works(one).some((work) => work.epoch === epoch && work.isLeft);
    expect(this.#say(one, { is: 'own', epoch })).toBe(isLeft);
  }

  #end(one: Peer, n: number, isSaid: boolean): void {
    const work = pick(this.#goingOn(one), n);
    if (work === undefined) return;
    const { epoch } = work;
    one.bodies.delete(epoch);
    this.#done.add(epoch);
    one.over.add(epoch);
    one.shared.coordinator.end(one.shared.workOf(epoch)!);
    if (isSaid) this.#say(one, { is: 'ended', epoch });
  }

  /**
   * Applies this number of events from the inbox. An empty inbox is first filled with the new
   * events.
   */
  #hear(one: Peer, count: number): void {
    if (one.inbox.length === 0) this.#tell(one);
    this.#come(one, count);
  }

  #come(one: Peer, count: number): void {
    for (const each of one.inbox.splice(0, count)) {
      one.hear(each, false);
      this.#expectAgreed(one);
    }
  }

  #die(one: Peer, n: number): void {
    const others = this.#peers.filter((other) => other !== one);
    const next = others[n % 2]!;
    const ended = new Set(this.#order.flatMap((each) => (each.is === 'ended' ? [each.epoch] : [])));
    const hasLeft = this.#order.some(
      (each) => each.now === one.fence && 'epoch' in each && !ended.has(each.epoch),
    );
    if (hasLeft) {
      // A member that applies the event later sees the new owner from the start.
      for (const each of this.#order) if (each.now === one.fence) each.now = next.fence;
      this.#say(next, { is: 'taken', gone: one.fence });
    }
    const later = new Peer(++this.#lastFence);
    // Ended work is evicted.
    for (const each of this.#told(0))
      if (!('epoch' in each.event && ended.has(each.event.epoch))) later.hear(each, false);
    later.at = this.#order.length;
    this.#peers = this.#peers.map((each) => (each === one ? later : each));
  }

  /** Applies all events before it, and then the event. */
  #say(one: Peer, said: object, late = false): Stale | boolean | undefined {
    this.#come(one, Number.POSITIVE_INFINITY);
    for (const { epoch, claims } of one.late.splice(0))
      this.#add(one, { is: 'given', epoch, claims, late: true });
    this.#add(one, { ...said, ...(late && { late }) });
    this.#tell(one);
    const last = one.inbox.pop()!;
    this.#come(one, Number.POSITIVE_INFINITY);
    return one.hear(last, true);
  }

  #add({ fence }: Peer, said: object): void {
    this.#order.push({ ...said, fence, now: fence } as Event);
  }

  #tell(one: Peer): void {
    one.inbox.push(...this.#told(one.at));
  }

  #told(from: number): Peer['inbox'] {
    return this.#order.slice(from).map((event, i) => ({ place: from + i, event: { ...event } }));
  }

  #works(one: Peer): PlainWork[] {
    return plainWorks(this.#order, one.fence);
  }

  /** The works in the part of the order that this peer has heard. */
  #at(one: Peer): PlainWork[] {
    return plainWorks(this.#order.slice(0, one.at), one.fence);
  }

  #bodiesOf(one: Peer): PlainWork[] {
    return this.#works(one).filter(({ epoch }) => one.bodies.has(epoch));
  }

  /** The work that the peer owns according to the events that it has applied. */
  #goingOn(one: Peer): PlainWork[] {
    const mine = new Set(one.shared.ownEpochs());
    return this.#works(one).filter(
      ({ epoch, fence, isLeft }) =>
        mine.has(epoch) && fence === one.fence && !isLeft && !this.#done.has(epoch),
    );
  }

  /** The blockers, the unresolved work and its claims, by position in the event order. */
  #expectAgreed(one: Peer): void {
    const works = this.#at(one);
    const isLive = ({ epoch, hasBeenLeft }: PlainWork): boolean =>
      !hasBeenLeft && !one.over.has(epoch);
    expect(one.shared.parked().toSorted((x, y) => x - y)).toEqual(
      works.filter(({ isLeft }) => isLeft).map(({ epoch }) => epoch),
    );
    const last = { epoch: Number.POSITIVE_INFINITY, claims: [] };
    for (const probe of PROBES) {
      const meets = (each: Claim): boolean => conflicts(each, probe);
      const blocking = works
        .filter((work) => isLive(work) && work.claims.some(meets))
        .map(({ epoch }) => epoch);
      expect(one.shared.coordinator.blocker(last, probe)).toBe(least(blocking));
      const doubting = works.filter(({ doubts }) => doubts.some(meets)).map(({ epoch }) => epoch);
      expect(one.shared.doubtAt(probe)).toBe(least(doubting));
    }
  }
}

function pick<T>(all: readonly T[], n: number): T | undefined {
  return all[n % Math.max(1, all.length)];
}

function least(epochs: readonly number[]): number | undefined {
  return epochs.length === 0 ? undefined : Math.min(...epochs);
}

test('under delay, members agree, conflicts follow epochs, late work is stale', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
      const world = new World();
      for (const each of steps) world.step(each);
      world.expectAgreed();
    }),
    { numRuns: cases(500) },
  );
});
