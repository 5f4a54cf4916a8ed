import { setTimeout as sleep } from 'node:timers/promises';
import type { OrderedEvent } from 'assize/internal/ledger';
import { expect } from 'vitest';
import { keyOf, loggedOf, writeOf } from '../effect-rows.ts';
import { claimsAt, LONG_MS, liveWork, Member, SHORT_MS, startedEvent } from '../members.ts';
import { batchOf, blobOf, entryAfter } from '../store-rows.ts';
import type { Bench } from '../suite.ts';
import type { SharedEffectLedger } from '../suite-types.ts';
import { WRITTEN } from './effects.ts';

const FENCED = { status: 'fenced' };

export async function joined(store: SharedEffectLedger, leaseMs = LONG_MS): Promise<Member> {
  return new Member(await store.joinEffects({ leaseMs }));
}

/** Repeats the check until it succeeds. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo()));
}

/** Whether a write under the fence is refused; writes no rows. */
export async function isFenced(store: SharedEffectLedger, fence: number): Promise<boolean> {
  return (await store.logEffects({ fence })).status === 'fenced';
}

/** The promise stays pending for a while. */
async function stillWaits(waiting: Promise<unknown>): Promise<void> {
  expect(await Promise.race([waiting, sleep(50, 'waits')])).toBe('waits');
}

/**
 * The events without their fence: a member that joins later receives adopted work under its new
 * owner.
 */
function told(heard: readonly OrderedEvent[]): readonly object[] {
  return heard.map(({ fence: _, ...rest }) => rest);
}

/** All events of one kind that any of the members has applied, each once. */
function allOf(is: OrderedEvent['is'], ...members: readonly Member[]): OrderedEvent[] {
  const bySeq = new Map(
    members.flatMap(({ heard }) => heard.map((each) => [each.seq, each] as const)),
  );
  return [...bySeq.values()].filter((each) => each.is === is);
}

/**
 * Several members on one store: each writes, all agree, and another member adopts abandoned work.
 */
export function sharingLaws({ law, newPlace, openAt, openNew }: Bench<SharedEffectLedger>): void {
  law('members have different fences, and all may write, alone and with entries', async () => {
    const store = await openNew();
    const members = await Promise.all(Array.from({ length: 4 }, () => joined(store)));
    const fences = members.map(({ fence }) => fence);
    expect(new Set(fences).size).toBe(4);
    const later = await joined(store);
    expect(later.fence).toBeGreaterThan(Math.max(...fences));
    const writes = [...fences, later.fence].map((fence, n) => {
      const effects = writeOf(fence, n + 1);
      if (n % 2 === 0) return store.logEffects(effects);
      return store.commit({ ...batchOf(entryAfter(undefined, `t${n}`)), effects });
    });
    expect((await Promise.all(writes)).map(({ status }) => status)).toEqual([
      'written',
      'committed',
      'written',
      'committed',
      'written',
    ]);
    expect((await store.openEffects()).map(({ epoch }) => epoch)).toEqual([1, 2, 3, 4, 5]);
    // One member continues a transaction that another has started.
    const goOn = { records: [{ epoch: 1, place: 1, record: 'more' }], ended: [2] };
    expect(await store.logEffects({ fence: later.fence, ...goOn })).toEqual(WRITTEN);
    expect((await store.effectsOf(1))?.records).toEqual(['begun', 'more']);
  });

  law('a member that left publishes no more, and is fenced by the next check', async () => {
    const store = await openNew();
    const [left, right] = [await joined(store), await joined(store)];
    await left.say(startedEvent('r:/a'));
    await store.logEffects(writeOf(left.fence, 1));
    await left.membership.release();
    await left.membership.release();
    expect(await left.say(startedEvent('r:/b'), { is: 'ended', epoch: 1 })).toBeUndefined();
    expect(await left.look()).toBeUndefined();
    await right.look(startedEvent('r:/c'));
    // The adopted work precedes the member's own events.
    expect(right.heard.map(({ is }) => is)).toEqual(['begun', 'taken', 'begun']);
    await expectFenced(store, left.fence, right.fence);
    expect(await left.say()).toBeUndefined();
  });

  law('a member silent for a lease is fenced by the next check, and is notified', async () => {
    const store = await openNew();
    const right = await joined(store);
    const left = await joined(store, SHORT_MS);
    const news = new Promise<void>((resolve) => left.membership.onEvents(resolve));
    await store.logEffects(writeOf(left.fence, 1));
    await until(async () => {
      await right.look();
      return isFenced(store, left.fence);
    });
    await news;
    expect(await left.say(startedEvent('r:/b'))).toBeUndefined();
    await expectFenced(store, left.fence, right.fence);
    expect(await right.say()).toEqual([]);
    await left.membership.release();
  });

  law('a joining member also fences a member with an expired lease', async () => {
    const store = await openNew();
    // Joins first: a member that joins after `left` may find its lease expired, however short the
    // time.
    const right = await joined(store);
    const left = await joined(store, SHORT_MS);
    await left.begin('r:/a');
    let last = await joined(store);
    while (!(await isFenced(store, left.fence))) {
      // No member leaves the group, because leaving hands its work over.
      await sleep(SHORT_MS);
      last = await joined(store);
    }
    await last.say();
    await right.say();
    expect(allOf('taken', last, right)).toEqual([
      expect.objectContaining({ gone: left.fence, fence: last.fence }),
    ]);
  });

  law('a lease is renewed whenever its member is heard of', async () => {
    const store = await openNew();
    const right = await joined(store);
    const left = await joined(store, SHORT_MS);
    // No member checks for ended ones in the meantime, so that it is not lost on a slow machine.
    const from = performance.now();
    let renewed = from;
    while (renewed - from <= SHORT_MS) {
      renewed = performance.now();
      expect(await left.say()).toEqual([]);
    }
    await until(async () => {
      await right.look();
      return isFenced(store, left.fence);
    });
    // At least half of the lease: the store may use another clock.
    expect(performance.now() - renewed).toBeGreaterThan(SHORT_MS / 2);
  });

  law('nothing is written under a fence never granted or after all members left', async () => {
    const store = await openNew();
    const tenure = await store.leaseEffects();
    await tenure.release();
    const members = [await joined(store), await joined(store)];
    const fences = [tenure.fence, ...members.map(({ fence }) => fence)];
    expect(await isFenced(store, tenure.fence)).toBe(true);
    for (const member of members) await member.membership.release();
    expect(await isFenced(store, Math.max(...fences) + 1)).toBe(true);
    const next = await joined(store);
    for (const fence of [...fences, next.fence - 1, next.fence + 1].filter(
      (each) => each !== next.fence,
    ))
      expect(await isFenced(store, fence)).toBe(true);
    expect(await isFenced(store, next.fence)).toBe(false);
  });

  law('epochs are given once and in order, however many begin concurrently', async () => {
    const store = await openNew();
    const tenure = await store.leaseEffects();
    await store.logEffects({ ...writeOf(tenure.fence, 12), ended: [12] });
    await tenure.release();
    const members = await Promise.all([1, 2, 3].map(() => joined(store)));
    const begin = async (member: Member): Promise<void> => {
      for (let n = 0; n < 6; n++)
        await member.say(startedEvent(`r:/${n}`), startedEvent(`r:/${n}`));
    };
    await Promise.all(members.map(begin));
    for (const member of members) await member.say();
    const [first] = members;
    const epochs = first!.heard.map((each) => ('epoch' in each ? each.epoch : 0));
    expect(epochs).toHaveLength(36);
    expect(epochs).toEqual(epochs.map((_, n) => epochs[0]! + n));
    expect(epochs[0]).toBeGreaterThan(12);
    // Not assigned again, even if the group was empty and the log has none of the epochs.
    for (const { membership } of members) await membership.release();
    const next = await joined(store);
    expect(await next.begin('r:/a')).toBeGreaterThan(epochs.at(-1)!);
  });

  law('members receive the same events in one order, their own last, in order', async () => {
    const store = await openNew();
    const members = await Promise.all([1, 2, 3].map(() => joined(store)));
    const talk = async (member: Member, n: number): Promise<void> => {
      const scope = (round: number): string => `r:/${n}/${round}`;
      for (let round = 0; round < 5; round++) {
        const news = await member.say(
          startedEvent(scope(round)),
          startedEvent(`${scope(round)}/more`),
        );
        const [one, two] = news!.slice(-2) as (OrderedEvent & { is: 'begun' })[];
        expect([one, two]).toMatchObject([
          { is: 'begun', fence: member.fence, claims: claimsAt(scope(round)) },
          { is: 'begun', fence: member.fence, claims: claimsAt(`${scope(round)}/more`) },
        ]);
        const claims = claimsAt('r:/x');
        const said = [
          { is: 'grown', epoch: two!.epoch, claims },
          { is: 'given', epoch: two!.epoch, claims },
          { is: 'left', epoch: one!.epoch },
          { is: 'own', epoch: one!.epoch },
          { is: 'ended', epoch: two!.epoch },
        ] as const;
        const answer = (await member.say(...said))!;
        expect(answer.slice(-5)).toMatchObject(
          said.map((each) => ({ ...each, fence: member.fence })),
        );
      }
    };
    await Promise.all(members.map(talk));
    for (const member of members) await member.say();
    const [first, ...others] = members.map(({ heard }) => heard);
    for (const heard of others) expect(heard).toEqual(first);
    expect(first).toHaveLength(3 * 5 * 7);
    expect(first!.map(({ seq }) => seq)).toEqual(
      first!.map(({ seq }) => seq).toSorted((a, b) => a - b),
    );
    expect(new Set(first!.map(({ seq }) => seq)).size).toBe(first!.length);
    // No event is delivered twice, nor to a member that has published none.
    for (const member of members) expect(await member.say()).toEqual([]);
  });

  law('claims are received exactly as published, for any text', async () => {
    const store = await openNew();
    const [one, two] = [await joined(store), await joined(store)];
    const texts = [
      '',
      '[]',
      '{}',
      'null',
      'a"b\\c,{d}',
      "'; --",
      'ä€😀\u2028',
      'NULL',
      'x'.repeat(20_000),
    ];
    await one.say(...texts.map((claims) => ({ is: 'begun', claims }) as const));
    await two.say();
    for (const { heard } of [one, two])
      expect(heard.map((each) => 'claims' in each && each.claims)).toEqual(texts);
  });

  law('a member that joins later derives the same live work as earlier members', async () => {
    const store = await openNew();
    const [one, two, three] = [await joined(store), await joined(store), await joined(store)];
    const epochs = [
      await one.begin('r:/a'),
      await two.begin('r:/b', 'r:/c'),
      await three.begin('r:/d'),
    ];
    await two.say({ is: 'grown', epoch: epochs[1]!, claims: claimsAt('r:/e') });
    await two.say({ is: 'given', epoch: epochs[1]!, claims: claimsAt('r:/b') });
    await three.say({ is: 'left', epoch: epochs[2]! });
    await one.say({ is: 'ended', epoch: await one.begin('r:/f') });
    const left = await one.begin('r:/g');
    await one.say({ is: 'left', epoch: left });
    await two.say();
    await two.say({ is: 'own', epoch: left });
    // Two members leave one after the other, and the adopter of the second also gets the work of
    // the first.
    await one.membership.release();
    await three.look();
    await three.membership.release();
    await two.look();
    const expected = [
      { epoch: epochs[0], fence: two.fence, claims: ['r:/a'], isInDoubt: false },
      { epoch: epochs[1], fence: two.fence, claims: ['r:/c', 'r:/e'], isInDoubt: false },
      // The adopter resumes abandoned work; otherwise it might stay abandoned.
      { epoch: epochs[2], fence: two.fence, claims: ['r:/d'], isInDoubt: true },
      { epoch: left, fence: two.fence, claims: ['r:/g'], isInDoubt: true },
    ];
    const fences = [one.fence, two.fence, three.fence];
    expect(liveWork(two.heard, fences)).toEqual(expected);
    const four = await joined(store);
    await four.say();
    expect(liveWork(four.heard, [...fences, four.fence])).toEqual(expected);
  });

  law('only ended work is dropped, once all members applied it and one checks', async () => {
    const store = await openNew();
    const [one, two] = [await joined(store), await joined(store)];
    const [kept, over] = [await one.begin('r:/a'), await one.begin('r:/b')];
    await one.say(
      { is: 'grown', epoch: over, claims: claimsAt('r:/c') },
      { is: 'ended', epoch: over },
    );
    await one.look();
    await one.look();
    // The member `two` has not applied it.
    const before = await joined(store);
    await before.say();
    expect(told(before.heard)).toEqual(told(one.heard));
    await two.say();
    expect(two.heard).toEqual(one.heard);
    // Members report applied events with their next exchange.
    for (const each of [before, two]) await each.say();
    await one.look();
    const after = await joined(store);
    await after.say();
    expect(after.heard).toEqual(one.heard.filter((each) => 'epoch' in each && each.epoch === kept));
    for (const member of [one, two, before]) expect(await member.say()).toEqual([]);
    const fences = [one, two, before, after].map(({ fence }) => fence);
    for (const { heard } of [one, two, before, after])
      expect(liveWork(heard, fences)).toEqual([
        { epoch: kept, fence: one.fence, claims: ['r:/a'], isInDoubt: false },
      ]);
  });

  law('of concurrent checks exactly one adopts the work of a member that left', async () => {
    const store = await openNew();
    const [gone, ...others] = await Promise.all([1, 2, 3, 4].map(() => joined(store)));
    const epochs = [await gone!.begin('r:/a'), await gone!.begin('r:/b')];
    await gone!.membership.release();
    await Promise.all(others.map((member) => member.look()));
    await expectTakenOver(gone!, others, epochs);
  });

  law('of concurrent checks exactly one adopts the work of an expired member', async () => {
    const store = await openNew();
    const others = await Promise.all([1, 2, 3].map(() => joined(store)));
    const gone = await joined(store, SHORT_MS);
    const epochs = [await gone.begin('r:/a'), await gone.begin('r:/b')];
    await until(async () => {
      await Promise.all(others.map((member) => member.look()));
      return others.some(({ heard }) => heard.some(({ is }) => is === 'taken'));
    });
    expect(await gone.look()).toBeUndefined();
    await expectTakenOver(gone, others, epochs);
  });

  law('a leaving member’s work is adopted without a check, and all are notified', async () => {
    const store = await openNew();
    const [gone, ...others] = await Promise.all([1, 2, 3].map(() => joined(store)));
    const epochs = [
      await gone!.begin('r:/a'),
      await gone!.begin('r:/b'),
      await gone!.begin('r:/c'),
    ];
    await gone!.say({ is: 'left', epoch: epochs[1]! }, { is: 'ended', epoch: epochs[2]! });
    const hearing = others.map(
      (member) =>
        new Promise<void>((resolve, reject) => {
          const hear = async (): Promise<void> => {
            await member.say();
            if (member.heard.some(({ is }) => is === 'taken')) resolve();
          };
          member.membership.onEvents(() => void hear().catch(reject));
        }),
    );
    await gone!.membership.release();
    expect(await isFenced(store, gone!.fence)).toBe(true);
    await Promise.all(hearing);
    const [{ fence } = gone!] = allOf('taken', ...others);
    expect(others.map((member) => member.fence)).toContain(fence);
    for (const { heard } of others)
      expect(liveWork(heard, [gone!.fence, ...others.map((member) => member.fence)])).toMatchObject(
        [
          { epoch: epochs[0], fence },
          { epoch: epochs[1], fence, isInDoubt: true },
        ],
      );
    expect(allOf('taken', ...others)).toHaveLength(1);
  });

  law('the last member’s work is adopted by the next member that joins', async () => {
    const store = await openNew();
    const gone = await joined(store);
    const epoch = await gone.begin('r:/a');
    await store.logEffects(writeOf(gone.fence, epoch));
    await gone.membership.release();
    const next = await Promise.all([1, 2, 3].map(() => joined(store)));
    for (const member of next) await member.say();
    const fences = next.map(({ fence }) => fence);
    const views = next.map(({ heard }) =>
      liveWork(heard, fences).map(({ fence, ...rest }) => [rest.epoch, fence]),
    );
    for (const view of views) expect(view).toEqual([[epoch, Math.min(...fences)]]);
    await store.logEffects({ fence: fences[0]!, ended: [epoch] });
  });

  law('a joining member resumes open transactions without an owner, once', async () => {
    const store = await openNew();
    const tenure = await store.leaseEffects();
    for (const epoch of [7, 3, 5]) await store.logEffects(writeOf(tenure.fence, epoch));
    await store.logEffects({ fence: tenure.fence, ended: [5] });
    await tenure.release();
    const members = await Promise.all([1, 2, 3].map(() => joined(store)));
    for (const member of members) await member.say();
    const first = Math.min(...members.map(({ fence }) => fence));
    for (const { heard } of members) {
      expect(heard).toMatchObject([
        { is: 'resumed', epoch: 3, fence: first },
        { is: 'resumed', epoch: 7, fence: first },
      ]);
    }
    expect(await members[1]!.begin('r:/a')).toBeGreaterThan(7);
  });

  law('a joining member does not resume transactions of a live member', async () => {
    const store = await openNew();
    const one = await joined(store);
    const epochs = [await one.begin('r:/a'), await one.begin('r:/b')];
    for (const epoch of epochs) await store.logEffects(writeOf(one.fence, epoch));
    await store.logEffects({ fence: one.fence, ended: [epochs[1]!] });
    await one.say({ is: 'ended', epoch: epochs[1]! });
    await one.look();
    await one.look();
    const two = await joined(store);
    await two.say();
    await one.say();
    expect(allOf('resumed', one, two)).toEqual([]);
    expect(allOf('taken', one, two)).toEqual([]);
    for (const { heard } of [one, two])
      expect(liveWork(heard, [one.fence, two.fence])).toMatchObject([
        { epoch: epochs[0], fence: one.fence },
      ]);
  });

  law('a lease waits for all members and they for it; each fences the previous', async () => {
    const store = await openNew();
    const [one, two] = [await joined(store), await joined(store)];
    const epoch = await one.begin('r:/a');
    await store.logEffects(writeOf(one.fence, epoch));
    const holding = store.leaseEffects();
    await stillWaits(holding);
    await one.membership.release();
    await stillWaits(holding);
    await two.membership.release();
    const tenure = await holding;
    expect(tenure.fence).toBeGreaterThan(two.fence);
    expect(tenure.lastEpoch).toBe(epoch);
    for (const { fence } of [one, two]) expect(await isFenced(store, fence)).toBe(true);
    const joining = [joined(store), joined(store)];
    await stillWaits(Promise.race(joining));
    expect(await store.logEffects(writeOf(tenure.fence, epoch + 5))).toEqual(WRITTEN);
    await tenure.release();
    const members = await Promise.all(joining);
    expect(await isFenced(store, tenure.fence)).toBe(true);
    expect(Math.min(...members.map(({ fence }) => fence))).toBeGreaterThan(tenure.fence);
    for (const member of members) await member.say();
    for (const { heard } of members)
      expect(
        liveWork(
          heard,
          members.map(({ fence }) => fence),
        ).map((each) => each.epoch),
      ).toEqual([epoch, epoch + 5]);
    expect(await members[0]!.begin('r:/a')).toBeGreaterThan(epoch + 5);
  });

  law('a join while the last member leaves succeeds, and a lease waits for it', async () => {
    const store = await openNew();
    const one = await joined(store);
    const joining = joined(store);
    const [two] = await Promise.all([joining, one.membership.release()]);
    const holding = store.leaseEffects();
    await stillWaits(holding);
    expect(await isFenced(store, two.fence)).toBe(false);
    await two.membership.release();
    expect((await holding).fence).toBeGreaterThan(two.fence);
  });

  law('a wait to join can be cancelled without disturbing other waiters', async () => {
    const store = await openNew();
    const tenure = await store.leaseEffects();
    const giving = [new AbortController(), new AbortController()];
    const reason = new Error('enough');
    const join = ({ signal }: AbortController) => store.joinEffects({ leaseMs: LONG_MS, signal });
    const waiting = giving.map(join);
    const other = joined(store);
    await stillWaits(Promise.race([...waiting, other]));
    for (const each of giving) each.abort(reason);
    expect(await Promise.allSettled([...waiting, join(giving[0]!)])).toEqual([
      { status: 'rejected', reason },
      { status: 'rejected', reason },
      { status: 'rejected', reason },
    ]);
    await stillWaits(other);
    await tenure.release();
    const member = await other;
    expect(await member.say()).toEqual([]);
    // Also if no wait is needed.
    await expect(join(giving[0]!)).rejects.toBe(reason);
    // Cancelled too late: the membership exists.
    const late = new AbortController();
    const { fence } = await join(late);
    late.abort();
    expect(await isFenced(store, fence)).toBe(false);
  });

  law('if all waits to join were cancelled, the next lease does not wait', async () => {
    const store = await openNew();
    const tenure = await store.leaseEffects();
    const giving = new AbortController();
    const waiting = store
      .joinEffects({ leaseMs: LONG_MS, signal: giving.signal })
      .catch(() => 'given up');
    await stillWaits(waiting);
    giving.abort();
    expect(await waiting).toBe('given up');
    await tenure.release();
    expect((await store.leaseEffects()).fence).toBeGreaterThan(tenure.fence);
  });

  law('a member’s concurrent exchanges publish in the order of their calls', async () => {
    const store = await openNew();
    const [{ membership }, other] = [await joined(store), await joined(store)];
    const scopes = Array.from({ length: 8 }, (_, n) => `r:/${n}`);
    const heard = await Promise.all(
      scopes.map((scope) => membership.exchange(0, [startedEvent(scope)], false)),
    );
    const last = heard.map((happened) => happened?.at(-1));
    expect(last).toMatchObject(scopes.map((scope) => ({ is: 'begun', claims: claimsAt(scope) })));
    expect((await other.say())!.slice(-8)).toEqual(last);
  });

  law('all other members are notified of published events', async () => {
    const store = await openNew();
    const [one, ...others] = await Promise.all([1, 2, 3].map(() => joined(store)));
    // Resolves when the member may have applied it; the member makes an exchange for each
    // notification.
    const hearing = others.map(
      (member) =>
        new Promise<void>((resolve, reject) => {
          const hear = async (): Promise<void> => {
            if (!member.heard.some(({ is }) => is === 'begun')) await member.say();
            if (member.heard.some(({ is }) => is === 'begun')) resolve();
          };
          member.membership.onEvents(() => void hear().catch(reject));
        }),
    );
    await one!.begin('r:/a');
    await Promise.all(hearing);
  });

  law('news that a member is lost reach it', async () => {
    const store = await openNew();
    const [one, two] = [await joined(store), await joined(store, SHORT_MS)];
    await two.begin('r:/a');
    const lost = new Promise<void>((resolve, reject) => {
      const ask = async (): Promise<void> => {
        if ((await two.say()) === undefined) resolve();
      };
      two.membership.onEvents(() => void ask().catch(reject));
    });
    // Each exchange renews the lease, so its expiry may take another one.
    let isLost = false;
    void lost.then(() => {
      isLost = true;
    });
    await until(async () => {
      await one.look();
      return isLost;
    });
    await lost;
  });

  law('a join with invalid options is refused', async () => {
    const store = await openNew();
    const refused = { code: 'store_invalid_input' };
    const wrong: unknown[] = [
      0,
      -1,
      1.5,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      2 ** 31,
      '100',
      undefined,
      null,
    ];
    for (const leaseMs of wrong) {
      await expect(store.joinEffects({ leaseMs } as never)).rejects.toMatchObject(refused);
    }
    for (const options of [
      undefined,
      null,
      7,
      'x',
      { leaseMs: 100, signal: {} },
      { leaseMs: 100, signal: 'x' },
    ]) {
      await expect(store.joinEffects(options as never)).rejects.toMatchObject(refused);
    }
    const one = await joined(store);
    expect(await one.say()).toEqual([]);
  });

  law('close ends every membership, and every wait for one', async () => {
    const store = await openNew();
    const members = [await joined(store), await joined(store)];
    await members[0]!.begin('r:/a');
    await store.close();
    for (const member of members) expect(await member.look(startedEvent('r:/b'))).toBeUndefined();
    for (const { membership } of members) await membership.release();
    const closed = { code: 'store_closed' };
    await expect(joined(store)).rejects.toMatchObject(closed);
    const other = await openNew();
    await other.leaseEffects();
    const waiting = Promise.allSettled([joined(other), joined(other)]);
    await stillWaits(waiting);
    await other.close();
    for (const answer of await waiting)
      expect(answer).toMatchObject({ status: 'rejected', reason: closed });
  });

  law('close ends a membership that is just being given', async () => {
    const store = await openNew();
    const joining = joined(store).then(
      (member) => member.say(),
      (error: { code?: string }) => error.code,
    );
    await store.close();
    expect([undefined, 'store_closed']).toContain(await joining);
  });

  law('handles share events; exactly one member adopts a closed handle’s work', async () => {
    const place = newPlace();
    const [left, right] = [await openAt(place), await openAt(place)];
    const gone = [await joined(left), await joined(left)];
    const others = [await joined(right), await joined(right)];
    const epochs = [await gone[0]!.begin('r:/a'), await gone[0]!.begin('r:/b')];
    await left.logEffects(writeOf(gone[0]!.fence, epochs[0]!));
    const news = new Promise<void>((resolve) => others[0]!.membership.onEvents(resolve));
    await gone[1]!.say({ is: 'ended', epoch: await gone[1]!.begin('r:/c') });
    await news;
    await others[0]!.say();
    expect(others[0]!.heard).toEqual(gone[1]!.heard);
    await left.close();
    await Promise.all(others.map((member) => member.look()));
    await expectTakenOver(gone[0]!, others, epochs);
    for (const { fence } of gone) expect(await isFenced(right, fence)).toBe(true);
    const again = await openAt(place);
    const next = await joined(again);
    await next.say();
    const fences = [...others, next].map(({ fence }) => fence);
    expect(liveWork(next.heard, fences)).toEqual(liveWork(others[1]!.heard, fences));
  });

  law('a tenure on one handle waits for members on another, and they for it', async () => {
    const place = newPlace();
    const [left, right] = [await openAt(place), await openAt(place)];
    const one = await joined(left);
    const holding = right.leaseEffects();
    await stillWaits(holding);
    await left.close();
    const tenure = await holding;
    expect(tenure.fence).toBeGreaterThan(one.fence);
    expect(await isFenced(right, one.fence)).toBe(true);
    const again = await openAt(place);
    const joining = joined(again);
    await stillWaits(joining);
    await right.close();
    expect((await joining).fence).toBeGreaterThan(tenure.fence);
  });

  /** No kind of write succeeds under that fence, and all succeed under the other one. */
  async function expectFenced(
    store: SharedEffectLedger,
    fence: number,
    other: number,
  ): Promise<void> {
    const open = await store.openEffects();
    expect(open).toEqual([loggedOf(1)]);
    const root = entryAfter(undefined, 'fenced');
    const writes = [
      { ...writeOf(fence, 2) },
      // Not even a repeated write; and a fenced writer gets no error for misuse.
      writeOf(fence, 1),
      { fence },
      { fence, records: [{ epoch: 1, place: 9, record: 'gap' }] },
      { fence, ended: [9] },
    ];
    for (const write of writes) expect(await store.logEffects(write)).toEqual(FENCED);
    const blob = blobOf('of who is fenced');
    const batch = { ...batchOf(root, [blob]), effects: writeOf(fence, 2) };
    // Together with other queued writes that are accepted.
    const beside = await Promise.all([
      store.logEffects({ fence: other, records: [{ epoch: 1, place: 1, record: 'beside' }] }),
      store.commit(batch),
      store.logEffects({ fence: other, ended: [1] }),
    ]);
    expect(beside).toEqual([WRITTEN, FENCED, WRITTEN]);
    expect([await store.head('fenced'), await store.blob(blob.hash)]).toEqual([
      undefined,
      undefined,
    ]);
    expect([await store.effectKey(keyOf(2).key), await store.effectsOf(2)]).toEqual([
      undefined,
      undefined,
    ]);
    expect(await store.effectsOf(1)).toEqual(loggedOf(1, ['begun', 'beside']));
  }

  /** By one of the members, once, and all members agree. */
  async function expectTakenOver(
    gone: Member,
    others: readonly Member[],
    epochs: readonly number[],
  ): Promise<void> {
    for (const member of others) await member.look();
    const taken = allOf('taken', ...others);
    expect(taken).toEqual([expect.objectContaining({ gone: gone.fence })]);
    const [{ fence } = gone] = taken;
    expect(others.map((member) => member.fence)).toContain(fence);
    const fences = [gone, ...others].map((member) => member.fence);
    for (const { heard } of others)
      expect(liveWork(heard, fences)).toMatchObject(epochs.map((epoch) => ({ epoch, fence })));
  }
}
