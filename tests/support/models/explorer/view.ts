/**
 * One process's knowledge of all live work: the real `SharedWork`, with the real `Coordinator` in
 * it, as an immutable value. Each time, a new `SharedWork` applies the earlier events, in the order
 * of the first path that led there. A naive computation verifies the result. Two paths with the
 * same naive result lead to one view.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Claim, conflicts, readClaim, type SharedWork, type Work } from '#effects';

/** Two resources, and a pattern of both. */
export type Place = 'x' | 'y' | '*';
export type Resource = 'x' | 'y';
/** A claim: to read or to write, and where. */
export type ExplorerClaim = `${'r' | 'w'}${Place}`;

export const RESOURCES: readonly Resource[] = ['x', 'y'];
const PROBES: readonly ExplorerClaim[] = ['rx', 'wx', 'ry', 'wy', 'r*', 'w*'];

export function resourcesOf(place: Place): readonly Resource[] {
  return place === '*' ? RESOURCES : [place];
}

/** Something that is said of work, or done where it is known. */
export type ExplorerEvent =
  | {
      readonly is: 'begun';
      readonly epoch: number;
      readonly fence: number;
      readonly claims: readonly ExplorerClaim[];
      readonly isHere: boolean;
    }
  | {
      readonly is: 'grown' | 'given' | 'enter';
      readonly epoch: number;
      readonly claims: readonly ExplorerClaim[];
    }
  /** `kept`: the claims that it keeps. */
  | { readonly is: 'left'; readonly epoch: number; readonly kept: readonly ExplorerClaim[] }
  | { readonly is: 'own'; readonly epoch: number; readonly fence: number }
  /** `over`: nothing of it is left to do. Only this one knows that yet. */
  | { readonly is: 'ended' | 'over'; readonly epoch: number }
  | { readonly is: 'taken'; readonly gone: number; readonly fence: number };

/**
 * The result of an event: the late claim and the epoch that overtook it, or whether the work may
 * act or was adopted. Other events have no result.
 */
export type Outcome = { readonly by: number; readonly claim: ExplorerClaim } | boolean | undefined;

/** Work as the naive look has it. */
interface Known {
  readonly epoch: number;
  readonly fence: number;
  readonly isHere: boolean;
  readonly claims: readonly ExplorerClaim[];
  readonly late: readonly ExplorerClaim[];
  readonly isLeft: boolean;
  /** The work blocks no other work any more. */
  readonly isOver: boolean;
  readonly doubts: readonly ExplorerClaim[];
}

interface Naive {
  readonly fence: number;
  readonly last: number;
  /** By epoch. */
  readonly works: readonly Known[];
  /** The accesses by an epoch that is higher than the epoch of some live work. */
  readonly acted: readonly { readonly epoch: number; readonly claim: ExplorerClaim }[];
}

/** An event and its result. */
interface Stage {
  readonly said: ExplorerEvent | undefined;
  readonly naive: Naive;
}

/** Where views that say the same are one. */
export class Views {
  readonly #byText = new Map<string, View>();
  readonly make: (fence: number, last: number) => SharedWork;
  readonly differs: (what: string) => never;

  /**
   * `make`: creates the object under test. `differs`: called if its answer is not the naive result.
   */
  constructor(make: (fence: number, last: number) => SharedWork, differs: (what: string) => never) {
    this.make = make;
    this.differs = differs;
  }

  get size(): number {
    return this.#byText.size;
  }

  begin(fence: number, last: number): View {
    return this.of(
      { fence, last, works: [], acted: [] },
      (naive) => new View(this, naive, undefined),
    );
  }

  /**
   * Checks that each waiting attempt is woken when it may act, and not before, on the path to each
   * view and one step further. Returns the number of woken attempts.
   * @throws the errors of `differs`
   */
  async checkWaking(make: Views['make'] = this.make): Promise<number> {
    let woken = 0;
    for (const view of this.#byText.values())
      for (const way of view.ways()) woken += await this.#checkWay(way, make);
    return woken;
  }

  async #checkWay([first, ...steps]: readonly Stage[], make: Views['make']): Promise<number> {
    const shared = make(first!.naive.fence, first!.naive.last);
    const waits: {
      readonly epoch: number;
      readonly claims: readonly ExplorerClaim[];
      isWoken: boolean;
      isClear: boolean;
    }[] = [];
    for (const { said, naive } of steps) {
      sayTo(shared, said!);
      for (const { epoch, claims, isOver } of naive.works) {
        if (isOver || waits.some((wait) => wait.epoch === epoch)) continue;
        const wait = { epoch, claims, isWoken: false, isClear: false };
        waits.push(wait);
        void shared.coordinator.whenClear(shared.workOf(epoch)!, claims.map(claimOf)).then(() => {
          wait.isWoken = true;
        });
      }
      await nextTurn();
      for (const wait of waits) {
        wait.isClear ||= wait.claims.every(
          (claim) => blockersOf(naive, wait.epoch, claim).length === 0,
        );
        if (wait.isWoken !== wait.isClear)
          this.differs(
            `epoch ${wait.epoch} is ${wait.isWoken ? '' : 'not '}woken by ${JSON.stringify(said)}`,
          );
      }
    }
    return waits.filter(({ isClear }) => isClear).length;
  }

  of(naive: Naive, make: (naive: Naive, n: number) => View): View {
    const text = JSON.stringify(naive);
    let view = this.#byText.get(text);
    if (view === undefined) {
      view = make(naive, this.#byText.size);
      this.#byText.set(text, view);
    }
    return view;
  }
}

export class View {
  readonly #views: Views;
  readonly #naive: Naive;
  readonly #before: { readonly view: View; readonly said: ExplorerEvent } | undefined;
  readonly #next = new Map<string, { readonly view: View; readonly outcome: Outcome }>();

  constructor(
    views: Views,
    naive: Naive,
    before: { readonly view: View; readonly said: ExplorerEvent } | undefined,
  ) {
    this.#views = views;
    this.#naive = naive;
    this.#before = before;
  }

  /** The view as part of a state: its text is the naive result, and equal results are one view. */
  toJSON(): unknown {
    return this.#naive;
  }

  get fence(): number {
    return this.#naive.fence;
  }

  /** Undefined if the attempt has ended or its start is unknown here. */
  claimsOf(epoch: number): readonly ExplorerClaim[] | undefined {
    return this.#of(epoch)?.claims;
  }

  /** Whether it is this one's to go on with. */
  isMine(epoch: number): boolean {
    const known = this.#of(epoch);
    return known?.fence === this.fence && !known.isLeft;
  }

  isLeft(epoch: number): boolean {
    return this.#of(epoch)?.isLeft === true;
  }

  /** Whether something there waits for a person. */
  isInDoubt(claims: readonly ExplorerClaim[]): boolean {
    return claims.some((claim) => doubtAt(this.#naive, claim) !== undefined);
  }

  /** @throws what `differs` throws */
  say(said: ExplorerEvent): { readonly view: View; readonly outcome: Outcome } {
    const text = JSON.stringify(said);
    let next = this.#next.get(text);
    if (next === undefined) {
      next = this.#said(said);
      this.#next.set(text, next);
    }
    return next;
  }

  /** The way that led here first, and then one step on, whichever it is. */
  *ways(): Iterable<readonly Stage[]> {
    const way = this.#way();
    for (const [text, { view }] of this.#next)
      yield [...way, { said: JSON.parse(text) as ExplorerEvent, naive: view.#naive }];
  }

  #way(): readonly Stage[] {
    if (this.#before === undefined) return [{ said: undefined, naive: this.#naive }];
    return [...this.#before.view.#way(), { said: this.#before.said, naive: this.#naive }];
  }

  #said(said: ExplorerEvent): { readonly view: View; readonly outcome: Outcome } {
    const shared = this.#shared();
    const outcome = sayTo(shared, said);
    const naive = after(this.#naive, said);
    if (!isDeepStrictEqual(outcome, naive.outcome))
      this.#views.differs(
        `${JSON.stringify(said)} comes to ${JSON.stringify(outcome)}, and naively to ${JSON.stringify(naive.outcome)}`,
      );
    const [is, shall] = [seen(shared, naive.naive), seenNaively(naive.naive)];
    if (!isDeepStrictEqual(is, shall))
      this.#views.differs(
        `after ${JSON.stringify(said)} there is ${JSON.stringify(is)}, and naively ${JSON.stringify(shall)}`,
      );
    const view = this.#views.of(
      naive.naive,
      (made) => new View(this.#views, made, { view: this, said }),
    );
    return { view, outcome };
  }

  #shared(): SharedWork {
    if (this.#before === undefined) return this.#views.make(this.#naive.fence, this.#naive.last);
    const shared = this.#before.view.#shared();
    sayTo(shared, this.#before.said);
    return shared;
  }

  #of(epoch: number): Known | undefined {
    return this.#naive.works.find((known) => known.epoch === epoch);
  }
}

const SCOPES = { x: 'r:/x', y: 'r:/y', '*': 'r:/*' } as const;

/** Each time another object, as what is read from a message is. */
function claimOf(held: ExplorerClaim): Claim {
  return readClaim(held[0] === 'r' ? 'read' : 'write', SCOPES[held.slice(1) as Place]);
}

function heldOf({ access, scope }: Claim): ExplorerClaim {
  return PROBES.find(
    (held) => (held[0] === 'r') === (access === 'read') && scope.text === SCOPES[placeOf(held)],
  )!;
}

function placeOf(held: ExplorerClaim): Place {
  return held.slice(1) as Place;
}

function sayTo(shared: SharedWork, said: ExplorerEvent): Outcome {
  switch (said.is) {
    case 'begun':
      shared.register(said.epoch, said.fence, said.claims.map(claimOf), said.isHere);
      return undefined;
    case 'grown': {
      const stale = shared.claim(said.epoch, said.claims.map(claimOf));
      return stale && { by: stale.by, claim: heldOf(stale.claim) };
    }
    case 'given':
      shared.release(said.epoch, said.claims.map(claimOf));
      return undefined;
    case 'enter':
      return shared.coordinator.tryAcquire(shared.workOf(said.epoch)!, said.claims.map(claimOf));
    case 'left':
      shared.park(said.epoch, said.kept.map(claimOf));
      return undefined;
    case 'own':
      return shared.adopt(said.epoch, said.fence);
    case 'ended':
      shared.end(said.epoch);
      return undefined;
    case 'over': {
      const work = shared.workOf(said.epoch);
      if (work !== undefined) shared.coordinator.end(work);
      return undefined;
    }
    case 'taken':
      shared.reassign(said.gone, said.fence);
      return undefined;
  }
}

/** The answers to all queries, for every attempt and every claim. */
function seen(shared: SharedWork, naive: Naive): unknown {
  const { works } = naive;
  const { coordinator } = shared;
  const anybody: Work = { epoch: Number.POSITIVE_INFINITY, claims: [] };
  const oldest = oldestOf(naive);
  const blockers = [anybody, ...works.map(({ epoch }) => shared.workOf(epoch) ?? anybody)].map(
    (work) => PROBES.map((held) => coordinator.blocker(work, claimOf(held))),
  );
  return {
    blockers,
    doubts: PROBES.map((held) => shared.doubtAt(claimOf(held))),
    mine: [...shared.ownEpochs()].sort(),
    left: shared.parked().sort(),
    last: coordinator.last,
    // No live attempt has a lower epoch. The bound may be lower than every live attempt, if earlier
    // epochs are unknown here.
    oldest:
      coordinator.oldest <= oldest && (oldest <= coordinator.last || coordinator.oldest === oldest),
  };
}

function seenNaively(naive: Naive): unknown {
  const { works, last, fence } = naive;
  const blockers = [Number.POSITIVE_INFINITY, ...works.map(({ epoch }) => epoch)].map((epoch) =>
    PROBES.map((held) => least(blockersOf(naive, epoch, held))),
  );
  return {
    blockers,
    doubts: PROBES.map((held) => doubtAt(naive, held)),
    mine: works.filter((known) => known.fence === fence && !known.isLeft).map(({ epoch }) => epoch),
    left: works.filter(({ isLeft }) => isLeft).map(({ epoch }) => epoch),
    last,
    oldest: true,
  };
}

/** The live attempts with a lower epoch and an overlapping claim. */
function blockersOf({ works }: Naive, epoch: number, held: ExplorerClaim): number[] {
  return works
    .filter(
      (known) =>
        known.epoch < epoch && !known.isOver && known.claims.some((claim) => meet(claim, held)),
    )
    .map((known) => known.epoch);
}

/** By resources, one by one, and not as scopes are compared. */
export function meet(one: ExplorerClaim, other: ExplorerClaim): boolean {
  const shared = resourcesOf(placeOf(one)).some((resource) =>
    resourcesOf(placeOf(other)).includes(resource),
  );
  return shared && (one[0] === 'w' || other[0] === 'w');
}

function isCovered(claims: readonly ExplorerClaim[], held: ExplorerClaim): boolean {
  return claims.some(
    (claim) =>
      (claim[0] === 'w' || held[0] === 'r') &&
      (placeOf(claim) === '*' || placeOf(claim) === placeOf(held)),
  );
}

function doubtAt({ works }: Naive, held: ExplorerClaim): number | undefined {
  return least(
    works
      .filter(({ doubts }) => doubts.some((doubt) => meet(doubt, held)))
      .map(({ epoch }) => epoch),
  );
}

function oldestOf({ works, last }: Naive): number {
  return Math.min(last + 1, ...works.filter(({ isOver }) => !isOver).map(({ epoch }) => epoch));
}

function least(epochs: readonly number[]): number | undefined {
  return epochs.length === 0 ? undefined : Math.min(...epochs);
}

/** The naive result of an event. */
function after(
  naive: Naive,
  said: ExplorerEvent,
): { readonly naive: Naive; readonly outcome: Outcome } {
  const { works } = naive;
  const is = (change: Partial<Naive>, outcome?: Outcome) => ({
    naive: pruned({ ...naive, ...change }),
    outcome,
  });
  if (said.is === 'taken')
    return is({
      works: works.map((each) =>
        each.fence === said.gone ? { ...each, fence: said.fence } : each,
      ),
    });
  if (said.is === 'begun') {
    const { epoch, fence, claims, isHere } = said;
    const begun = {
      epoch,
      fence,
      isHere,
      claims,
      late: [],
      isLeft: false,
      isOver: false,
      doubts: [],
    };
    const all = [...works, begun].sort((a, b) => a.epoch - b.epoch);
    const acted = isHere
      ? naive.acted
      : [...naive.acted, ...claims.map((claim) => ({ epoch, claim }))];
    return is({ works: all, acted, last: Math.max(naive.last, epoch) });
  }
  const { epoch } = said;
  const known = works.find((each) => each.epoch === epoch);
  if (known === undefined) return is({}, said.is === 'own' ? false : undefined);
  const change = (to: Partial<Known>) =>
    works.map((each) => (each === known ? { ...each, ...to } : each));
  switch (said.is) {
    case 'grown': {
      const { claims } = said;
      for (const claim of known.isHere ? claims : []) {
        if (isCovered(known.claims, claim)) continue;
        const younger = naive.acted.filter((act) => act.epoch > epoch && meet(act.claim, claim));
        if (younger.length === 0) continue;
        const by = Math.max(...younger.map((act) => act.epoch));
        return is({ works: change({ late: [...known.late, ...claims] }) }, { by, claim });
      }
      const acts = known.isHere ? [] : claims.map((claim) => ({ epoch, claim }));
      return is({
        works: change({ claims: [...known.claims, ...claims] }),
        acted: [...naive.acted, ...acts],
      });
    }
    case 'given': {
      const late = [...known.late];
      const claims = [...known.claims];
      for (const claim of said.claims) if (!takeOut(late, claim)) takeOut(claims, claim);
      return is({ works: change({ late, claims }) });
    }
    case 'enter': {
      const isClear = said.claims.every((claim) => blockersOf(naive, epoch, claim).length === 0);
      if (!isClear) return is({}, false);
      return is(
        { acted: [...naive.acted, ...said.claims.map((claim) => ({ epoch, claim }))] },
        true,
      );
    }
    case 'left':
      return is({
        works: change({ isLeft: true, isOver: true, claims: said.kept, doubts: said.kept }),
      });
    case 'own':
      if (!known.isLeft) return is({}, false);
      return is({ works: change({ isLeft: false, fence: said.fence }) }, true);
    case 'over':
      return is({ works: change({ isOver: true }) });
    case 'ended':
      return is({ works: works.filter((each) => each !== known) });
  }
}

function takeOut(claims: ExplorerClaim[], claim: ExplorerClaim): boolean {
  const at = claims.indexOf(claim);
  if (at !== -1) claims.splice(at, 1);
  return at !== -1;
}

/** An access counts once, for live work with a lower epoch, in any order. */
function pruned(naive: Naive): Naive {
  const oldest = oldestOf(naive);
  const texts = new Set(
    naive.acted.filter(({ epoch }) => epoch > oldest).map(({ epoch, claim }) => `${claim}${epoch}`),
  );
  const acted = [...texts]
    .sort()
    .map((text) => ({ epoch: Number(text.slice(2)), claim: text.slice(0, 2) as ExplorerClaim }));
  return { ...naive, acted };
}

/** That the naive look tells of the same resources as the real one. */
export const PAIRS = PROBES.flatMap((one) =>
  PROBES.map((other) => [one, other, conflicts(claimOf(one), claimOf(other))] as const),
);
