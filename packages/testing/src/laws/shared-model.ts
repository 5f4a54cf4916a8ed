import type { MembershipEvent, OrderedEvent } from 'assize/internal/ledger';
import fc from 'fast-check';
import { expect } from 'vitest';
import { claimsAt, type Live, LONG_MS, liveWork, type Member } from '../members.ts';
import type { Bench } from '../suite.ts';
import type { SharedEffectLedger } from '../suite-types.ts';
import { isFenced, joined, until } from './sharing.ts';

/** The usual number of runs of a property; each run opens its own store. */
const RUNS = 40;
/** The length of a lease that the test lets expire. */
const LAPSE_MS = 5;
const PLACES = ['r:/a', 'r:/b', 'r:/c'];

/** An event that the member can publish about one of the works, if there is one. */
interface Saying {
  readonly is: MembershipEvent['is'];
  readonly which: number;
  readonly places: readonly string[];
}

type Step =
  | { readonly do: 'join' | 'part' | 'cut'; readonly member: number }
  | { readonly do: 'say' | 'look'; readonly member: number; readonly said: readonly Saying[] }
  /** A member joins, publishes events, and makes no further exchange. */
  | { readonly do: 'lapse'; readonly member: number; readonly said: readonly Saying[] };

const member = fc.nat(2);
const places = fc.uniqueArray(fc.constantFrom(...PLACES), { minLength: 1, maxLength: 2 });
const saying: fc.Arbitrary<Saying> = fc.record({
  is: fc.constantFrom<MembershipEvent['is']>(
    'begun',
    'begun',
    'begun',
    'grown',
    'given',
    'left',
    'own',
    'ended',
    'ended',
  ),
  which: fc.nat(7),
  places,
});
const said = fc.array(saying, { maxLength: 3 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('join' as const), member }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('part' as const, 'cut' as const), member }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('say' as const), member, said }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('look' as const), member, said }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lapse' as const), member, said }) },
);
const steps = fc.array(step, { maxLength: 30, size: '+1' });

/** For any actions of three members, all derive the live work that a plain model has. */
export function sharedModelLaws({
  law,
  newPlace,
  openAt,
  openNew,
  runs,
}: Bench<SharedEffectLedger>): void {
  law('for any events and ends, all members derive a plain model’s live work', async () => {
    const run = async (each: readonly Step[]): Promise<void> => {
      const store = await openNew();
      try {
        await new Course(async () => store).run(each);
      } finally {
        await store.close();
      }
    };
    await fc.assert(fc.asyncProperty(steps, run), { numRuns: runs(RUNS) });
  });

  law('the same where each has its own handle and may lose it', async () => {
    const run = async (each: readonly Step[]): Promise<void> => {
      const place = newPlace();
      const opened: SharedEffectLedger[] = [];
      const open = async (): Promise<SharedEffectLedger> => {
        opened.push(await openAt(place));
        return opened.at(-1)!;
      };
      try {
        await new Course(open).run(each);
      } finally {
        for (const store of opened) await store.close();
      }
    };
    await fc.assert(fc.asyncProperty(steps, run), { numRuns: runs(RUNS / 2) });
  });
}

interface Slot {
  readonly store: SharedEffectLedger;
  readonly member: Member;
}

/** One run, on the store and on the model. */
class Course {
  readonly #open: () => Promise<SharedEffectLedger>;
  readonly #model = new PlainSharing();
  readonly #slots = new Map<number, Slot>();
  /** The applied events of all members, by number. */
  readonly #heard = new Map<number, string>();
  readonly #ended = new Set<number>();

  constructor(open: () => Promise<SharedEffectLedger>) {
    this.#open = open;
  }

  async run(all: readonly Step[]): Promise<void> {
    const watcher = await this.#join();
    for (const each of all) await this.#step(each, watcher);
    await this.#exchange(watcher, [], true);
    for (const slot of [...this.#slots.values(), watcher]) await this.#exchange(slot, [], false);
    // Now all members have reported that they applied all events.
    for (const slot of [...this.#slots.values(), watcher]) await this.#exchange(slot, [], false);
    await this.#exchange(watcher, [], true);
    const last = await this.#join();
    await this.#exchange(last, [], false);
    for (const each of last.member.heard)
      if ('epoch' in each) expect(this.#ended).not.toContain(each.epoch);
    for (const { member: one } of [...this.#slots.values(), watcher, last])
      await one.membership.release();
  }

  async #step(each: Step, watcher: Slot): Promise<void> {
    const slot = this.#slots.get(each.member);
    if (each.do === 'join') {
      if (slot === undefined) this.#slots.set(each.member, await this.#join());
    } else if (each.do === 'lapse') {
      await this.#lapse(watcher, each.said);
    } else if (slot === undefined) {
      return;
    } else if (each.do === 'say' || each.do === 'look') {
      await this.#exchange(slot, each.said, each.do === 'look');
    } else {
      this.#slots.delete(each.member);
      this.#model.gone(slot.member.fence);
      // A handle that other members share cannot be closed.
      const isShared = [...this.#slots.values(), watcher].some(({ store }) => store === slot.store);
      if (each.do === 'part' || isShared) {
        // Earlier adoptions are then not new events.
        await watcher.member.say();
        await slot.member.membership.release();
        await this.#expectHeir(watcher);
      } else await slot.store.close();
      expect(await slot.member.look()).toBeUndefined();
    }
  }

  /** Another member owns the abandoned work, without an explicit check. */
  async #expectHeir(watcher: Slot): Promise<void> {
    const news = (await watcher.member.say()) ?? expect.fail('it is a member');
    for (const each of news) if (each.is === 'taken') this.#model.look(each.fence);
    this.#model.expectNobodys();
  }

  async #join(leaseMs = LONG_MS): Promise<Slot> {
    const store = await this.#open();
    const one = await joined(store, leaseMs);
    expect(one.fence).toBeGreaterThan(this.#model.lastFence);
    this.#model.join(one.fence);
    return { store, member: one };
  }

  /**
   * No member checks for ended ones before this member has published its events, so that it is not
   * lost early on a slow machine.
   */
  async #lapse(watcher: Slot, sayings: readonly Saying[]): Promise<void> {
    const slot = await this.#join(LAPSE_MS);
    await this.#exchange(slot, sayings, false);
    const { fence } = slot.member;
    this.#model.gone(fence);
    await until(async () => {
      await watcher.member.look();
      return isFenced(watcher.store, fence);
    });
    this.#model.look(watcher.member.fence);
    await this.#exchange(watcher, [], false);
    expect(await slot.member.say({ is: 'begun', claims: claimsAt('r:/never') })).toBeUndefined();
  }

  async #exchange({ member: one }: Slot, sayings: readonly Saying[], look: boolean): Promise<void> {
    const before = one.heard.length;
    if (look) this.#model.look(one.fence);
    const saids = sayings.flatMap((each) => this.#model.choose(one.fence, each));
    const news =
      (look ? await one.look(...saids) : await one.say(...saids)) ?? expect.fail('it is a member');
    const answers = news.slice(news.length - saids.length);
    expect(answers).toMatchObject(saids.map((each) => ({ ...each, fence: one.fence })));
    for (const each of answers)
      if (each.is === 'begun') this.#model.begin(each.epoch, each.claims, one.fence);
    for (const each of news) if (each.is === 'ended') this.#ended.add(each.epoch);
    this.#expectOneOrder(one.heard.slice(Math.max(0, before - 1)));
    expect(liveWork(one.heard, this.#model.fences)).toEqual(this.#model.live);
  }

  /** All members apply the same event under one number, except for the fence that it names. */
  #expectOneOrder(heard: readonly OrderedEvent[]): void {
    for (const [at, each] of heard.entries()) {
      if (at > 0) expect(each.seq).toBeGreaterThan(heard[at - 1]!.seq);
      const { fence: _, ...rest } = each;
      const text = JSON.stringify(rest);
      expect(this.#heard.get(each.seq) ?? text).toBe(text);
      this.#heard.set(each.seq, text);
    }
  }
}

interface PlainWork {
  readonly epoch: number;
  readonly begunBy: number;
  fence: number;
  isLeft: boolean;
  claims: string[];
  /** The kept claims when it was last marked unresolved. */
  doubts: readonly string[] | undefined;
}

/** The live work and its owners, implemented plainly: a full scan each time. */
class PlainSharing {
  /** Of all members so far. */
  readonly fences: number[] = [];
  readonly #members = new Set<number>();
  readonly #works: PlainWork[] = [];
  #lastEpoch = 0;

  get lastFence(): number {
    return this.fences.at(-1) ?? 0;
  }

  join(fence: number): void {
    this.fences.push(fence);
    this.#members.add(fence);
    this.look(fence);
  }

  gone(fence: number): void {
    this.#members.delete(fence);
  }

  expectNobodys(): void {
    expect(this.#works.filter(({ fence }) => !this.#members.has(fence))).toEqual([]);
  }

  look(fence: number): void {
    for (const work of this.#works) {
      if (this.#members.has(work.fence)) continue;
      work.fence = fence;
      work.isLeft = false;
    }
  }

  begin(epoch: number, claims: string, fence: number): void {
    expect(epoch).toBeGreaterThan(this.#lastEpoch);
    this.#lastEpoch = epoch;
    const scopes = PLACES.filter((place) => claims.includes(place));
    this.#works.push({
      epoch,
      begunBy: fence,
      fence,
      isLeft: false,
      claims: scopes,
      doubts: undefined,
    });
  }

  /**
   * The events of that kind that the member can publish, applied to the model. A start has no epoch
   * yet.
   */
  choose(fence: number, { is, which, places: scopes }: Saying): MembershipEvent[] {
    const claims = claimsAt(...scopes);
    if (is === 'begun') return [{ is, claims }];
    const works = this.#works.filter((work) => canBeSaid(is, work, fence));
    const work = works[which % Math.max(1, works.length)];
    if (work === undefined) return [];
    const { epoch } = work;
    if (is === 'grown' || is === 'given') {
      if (is === 'grown') work.claims.push(...scopes);
      for (const scope of is === 'given' ? scopes : [])
        if (work.claims.includes(scope)) work.claims.splice(work.claims.indexOf(scope), 1);
      return [{ is, epoch, claims }];
    }
    if (is === 'ended') this.#works.splice(this.#works.indexOf(work), 1);
    work.isLeft = is === 'left';
    if (is === 'left') {
      // All its claims, or the given ones.
      const isAll = which % 2 === 0;
      work.doubts = isAll ? (work.doubts ?? [...work.claims]) : scopes;
      return [isAll ? { is, epoch } : { is, epoch, claims }];
    }
    if (is === 'own') work.fence = fence;
    return [{ is, epoch }];
  }

  get live(): Live[] {
    const doubts = this.#works.flatMap((work) => work.doubts ?? []);
    return this.#works
      .toSorted((a, b) => a.epoch - b.epoch)
      .map(({ epoch, isLeft, fence, claims }) => ({
        epoch,
        fence: isLeft ? undefined : fence,
        claims: claims.toSorted(),
        isInDoubt: claims.length > 0 && claims.every((scope) => doubts.includes(scope)),
      }));
  }
}

/** Claims change only while a body runs. */
function canBeSaid(
  is: Saying['is'],
  { begunBy, fence, isLeft, doubts }: PlainWork,
  by: number,
): boolean {
  if (is === 'own') return isLeft;
  if (fence !== by || isLeft) return false;
  return (is !== 'grown' && is !== 'given') || (begunBy === by && doubts === undefined);
}
