import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import type { Membership, OrderedEvent, MembershipEvent as SaidToStore } from '#ledger';
import { cases } from '../support/cases.ts';
import {
  broadcast,
  handedOver,
  type Message,
  NOBODY,
  type Post,
} from '../support/models/explorer/membership.ts';
import type { ExplorerEvent } from '../support/models/explorer/view.ts';

// The explorer of the frontier models the group members of a store in
// `tests/support/models/explorer/membership.ts`. The test compares them with the members of a real
// store. Each member receives all events in one order, and its own event last. A member that is
// gone receives nothing, and its writes are fenced. Its transactions belong to another member.

const LEASE_MS = 1_000;
const which = fc.nat(9);
const member = fc.nat(2);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ begins: member }) },
  { weight: 3, arbitrary: fc.record({ ends: member, which }) },
  { weight: 3, arbitrary: fc.record({ leaves: member, which }) },
  { weight: 1, arbitrary: fc.record({ owns: member, which }) },
  { weight: 3, arbitrary: fc.record({ hears: member }) },
  { weight: 1, arbitrary: fc.record({ parts: member }) },
  { weight: 1, arbitrary: fc.record({ lapses: member, heir: member }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

afterEach(() => {
  vi.restoreAllMocks();
});

/** Real members, and beside each what the model has it hear. */
class Stage {
  readonly #store = new MemoryStore({ shared: true });
  readonly #members: Membership[] = [];
  readonly #heard: number[] = [];
  #posts: Post[] = [];
  #now = 0;
  #last = 0;
  /**
   * The owner of each epoch that has not ended, whether it is abandoned, and the members that
   * published events about it.
   */
  readonly #works = new Map<number, { by: number; isLeft: boolean; tellers: Set<number> }>();

  static async begun(): Promise<Stage> {
    const stage = new Stage();
    vi.spyOn(performance, 'now').mockImplementation(() => stage.#now);
    for (let i = 0; i < 3; i++) {
      stage.#members.push(await stage.#store.joinEffects!({ leaseMs: LEASE_MS }));
      stage.#heard.push(0);
      stage.#posts.push({ inbox: [], isIn: true });
    }
    return stage;
  }

  async step(each: Step): Promise<void> {
    if ('begins' in each) await this.#begin(each.begins);
    else if ('ends' in each) await this.#sayOf(each.ends, each.which, 'ended');
    else if ('leaves' in each) await this.#sayOf(each.leaves, each.which, 'left');
    else if ('owns' in each) await this.#own(each.owns, each.which);
    else if ('hears' in each) await this.#exchange(each.hears);
    else if ('parts' in each) await this.#part(each.parts);
    else await this.#lapse(each.lapses, each.heir);
    for (const m of this.#members.keys()) await this.#expectFenced(m);
  }

  async end(): Promise<void> {
    for (const m of this.#members.keys()) await this.#exchange(m);
    await this.#store.close();
  }

  async #begin(m: number): Promise<void> {
    const { isIn } = this.#posts[m]!;
    const epoch = this.#last + 1;
    if (isIn) {
      this.#last = epoch;
      this.#works.set(epoch, { by: m, isLeft: false, tellers: new Set([m]) });
    }
    await this.#say(m, { is: 'begun', epoch, fence: this.#fence(m), claims: [], isHere: true });
  }

  async #sayOf(m: number, n: number, is: 'ended' | 'left'): Promise<void> {
    const mine = [...this.#works].filter(([, { by, isLeft }]) => by === m && !isLeft);
    const [epoch, work] = mine[n % Math.max(1, mine.length)] ?? [];
    if (epoch === undefined || !this.#posts[m]!.isIn) return;
    this.#works.delete(epoch);
    // By when they were left: in that order they are tried again.
    if (is === 'left') this.#works.set(epoch, { ...work!, isLeft: true });
    await this.#say(m, is === 'ended' ? { is, epoch } : { is, epoch, kept: [] });
  }

  async #own(m: number, n: number): Promise<void> {
    const left = [...this.#works].filter(([, { isLeft }]) => isLeft);
    const [epoch, work] = left[n % Math.max(1, left.length)] ?? [];
    if (epoch === undefined || !this.#posts[m]!.isIn) return;
    work!.isLeft = false;
    work!.by = m;
    work!.tellers.add(m);
    await this.#say(m, { is: 'own', epoch, fence: this.#fence(m) });
  }

  /** An orderly leave: another member, if one is there, adopts the epochs immediately. */
  async #part(m: number): Promise<void> {
    const others = this.#posts.flatMap(({ isIn }, at) => (isIn && at !== m ? [at] : []));
    if (!this.#posts[m]!.isIn || others.length === 0) return;
    await this.#members[m]!.release();
    this.#gone(m, others[0]!);
  }

  /**
   * The member is silent for a lease, and the heir checks. The third member stays active in the
   * meantime.
   */
  async #lapse(m: number, heir: number): Promise<void> {
    if (m === heir || !this.#posts[m]!.isIn || !this.#posts[heir]!.isIn) return;
    this.#now += LEASE_MS + 1;
    for (const other of this.#posts.keys())
      if (other !== m && other !== heir) await this.#exchange(other);
    // The heir receives the events that it missed after the epochs have their new owner.
    this.#gone(m, heir);
    await this.#exchange(heir, undefined, true);
  }

  #gone(m: number, heir: number): void {
    this.#posts = this.#posts.map((post, at) => (at === m ? { inbox: [], isIn: false } : post));
    const told = [...this.#works.values()].filter(({ tellers }) => tellers.delete(m));
    if (told.length === 0) return;
    for (const { tellers } of told) tellers.add(heir);
    const theirs = [...this.#works].filter(([, { by }]) => by === m);
    const left = theirs.filter(([, { isLeft }]) => isLeft).map(([epoch]) => epoch);
    const [gone, fence] = [this.#fence(m), this.#fence(heir)];
    this.#posts = handedOver(this.#posts, gone, { fence, by: heir }, left);
    for (const [, work] of theirs) Object.assign(work, { by: heir, isLeft: false });
  }

  async #say(m: number, said: ExplorerEvent): Promise<void> {
    this.#posts = this.#posts[m]!.isIn
      ? broadcast(this.#posts, { said, by: m, tx: NOBODY })
      : this.#posts;
    await this.#exchange(m, said);
  }

  async #exchange(m: number, said?: ExplorerEvent, look = false): Promise<void> {
    const happened = await this.#members[m]!.exchange(
      this.#heard[m]!,
      said === undefined ? [] : [toStore(said)],
      look,
    );
    const { inbox, isIn } = this.#posts[m]!;
    expect(happened === undefined).toBe(!isIn);
    if (happened === undefined) return;
    expect(happened.map(ofHappening)).toEqual(inbox.map(ofMessage));
    this.#heard[m] = happened.at(-1)?.seq ?? this.#heard[m]!;
    this.#posts = this.#posts.map((post, at) => (at === m ? { ...post, inbox: [] } : post));
  }

  async #expectFenced(m: number): Promise<void> {
    const { status } = await this.#store.logEffects({ fence: this.#fence(m) });
    expect(status).toBe(this.#posts[m]!.isIn ? 'written' : 'fenced');
  }

  #fence(m: number): number {
    return this.#members[m]!.fence;
  }
}

function toStore(said: ExplorerEvent): SaidToStore {
  switch (said.is) {
    case 'begun':
      return { is: 'begun', claims: '[]' };
    case 'left':
    case 'own':
    case 'ended':
      return { is: said.is, epoch: said.epoch };
    default:
      throw new Error(`a member says ${said.is} otherwise`);
  }
}

/** The fields that both report. The owner appears only if it matters to the receiver. */
function ofHappening(each: OrderedEvent): object {
  switch (each.is) {
    case 'taken':
      return { is: each.is, gone: each.gone, fence: each.fence };
    case 'begun':
    case 'own':
      return { is: each.is, epoch: each.epoch, fence: each.fence };
    default:
      return { is: each.is, epoch: each.epoch };
  }
}

function ofMessage({ said }: Message): object {
  switch (said.is) {
    case 'taken':
      return { is: said.is, gone: said.gone, fence: said.fence };
    case 'begun':
    case 'own':
      return { is: said.is, epoch: said.epoch, fence: said.fence };
    default:
      return { is: said.is, epoch: said.epoch };
  }
}

test('members of an in-memory store receive, lose and adopt as in the model', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30, size: 'max' }), async (steps) => {
      const stage = await Stage.begun();
      for (const each of steps) await stage.step(each);
      await stage.end();
      vi.restoreAllMocks();
    }),
    { numRuns: cases(300) },
  );
});
