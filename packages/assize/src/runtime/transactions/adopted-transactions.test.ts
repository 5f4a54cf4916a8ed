import { setImmediate as nextTurn } from 'node:timers/promises';
import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { bodyText, claimsText, claimTexts, readClaim, recordsText } from '#effects';
import type { Membership, SharedEffectStore } from '#ledger';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { tally } from '../../../../../tests/support/tools/effect-sink.ts';
import { SharedCoordinator } from './coordination/shared-coordinator.ts';

const LEASE_MS = 600_000;
const a = readClaim('write', 'r:/a');
const b = readClaim('write', 'r:/b');

test('an adopted unseen transaction counts as acted: older epochs are too late', async () => {
  const store = new MemoryStore({ shared: true }) as MemoryStore & SharedEffectStore;
  const mine = await store.joinEffects({ leaseMs: LEASE_MS });
  const other = await store.joinEffects({ leaseMs: LEASE_MS });
  // The member receives no notifications, and checks for events with each exchange.
  const membership = {
    ...mine,
    exchange: (heard: number, said: Parameters<typeof mine.exchange>[1]) =>
      mine.exchange(heard, said, true),
    onEvents: () => undefined,
  };
  const beside = await SharedCoordinator.join({
    membership,
    store,
    leaseMs: LEASE_MS,
    isOrdered: true,
  });
  const older = await beside.begin([b]);
  await other.exchange(0, [{ is: 'begun', claims: claimsText([a]) }], false);
  await other.release();
  const taken: number[] = [];
  beside.onResumable((epoch) => taken.push(epoch));
  expect(await beside.expand(older, [b, a])).toEqual({
    epoch: older.epoch,
    by: older.epoch + 1,
    claim: a,
  });
  await beside.close();
  expect(taken).toEqual([older.epoch + 1]);
  await store.close();
});

test('joining and leaving do not wait for a continuous stream of events', async () => {
  const store = new MemoryStore({ shared: true }) as MemoryStore & SharedEffectStore;
  const mine = await store.joinEffects({ leaseMs: LEASE_MS });
  let news = (): void => undefined;
  const membership = {
    ...mine,
    exchange: (...said: Parameters<typeof mine.exchange>) => {
      // Before each answer there is a new event to apply.
      news();
      return mine.exchange(...said);
    },
    onEvents: (listener: () => void) => {
      news = listener;
    },
  };
  const beside = await SharedCoordinator.join({
    membership,
    store,
    leaseMs: LEASE_MS,
    isOrdered: true,
  });
  expect((await beside.begin([a])).epoch).toBe(1);
  await beside.close();
  news = () => undefined;
  await store.close();
});

test('a joining member reads all open work in one batch and avoids its claims', async () => {
  const store = new MemoryStore({ shared: true }) as MemoryStore & SharedEffectStore;
  const { fence, release } = await store.leaseEffects();
  const claims = (place: number) => [readClaim('write', `r:/${place}`)];
  for (let epoch = 1; epoch <= 50; epoch++) {
    const body = {
      transaction: `${epoch}`,
      principal: 'alice',
      writ_id: '0'.repeat(64),
      claims: claimTexts(claims(epoch)),
    };
    const record = recordsText([{ is: 'aborting', cause: 'crashed' }]);
    const begun = [{ epoch, trajectory_id: 't', body: bodyText(body) }];
    await store.logEffects({ fence, begun, records: [{ epoch, place: 0, record }] });
  }
  await release();
  const reads: string[] = [];
  const counted = new Proxy(store, {
    get(target, name) {
      reads.push(String(name));
      return (Reflect.get(target, name) as () => unknown).bind(target);
    },
  });
  const membership = await store.joinEffects({ leaseMs: LEASE_MS });
  const beside = await SharedCoordinator.join({
    membership,
    store: counted,
    leaseMs: LEASE_MS,
    isOrdered: true,
  });
  expect(reads).toEqual(['openEffects']);
  const taken: number[] = [];
  beside.onResumable((epoch) => taken.push(epoch));
  expect(taken).toHaveLength(50);
  for (const epoch of [1, 25, 50]) {
    const work = await beside.begin(claims(epoch));
    const waiting = beside.whenClear(work, work.claims).then(() => 'clear');
    expect(await Promise.race([waiting, nextTurn('waits')])).toBe('waits');
    beside.end(epoch, Promise.resolve());
    expect(await waiting).toBe('clear');
  }
  // Without resumed work, no claims are read.
  await beside.begin([a]);
  expect(reads).toHaveLength(1);
  await beside.close();
  await store.close();
});

test('of many callers that find a lost membership one rejoins, and none leaks', async () => {
  const inner = new MemoryStore({ shared: true }) as MemoryStore & SharedEffectStore;
  const memberships: { readonly membership: Membership; isReleased: boolean }[] = [];
  const store = new Proxy(inner, {
    get(target, name) {
      const member = Reflect.get(target, name) as unknown;
      if (typeof member !== 'function') return member;
      if (name !== 'joinEffects') return member.bind(target);
      return async (options: { readonly leaseMs: number }) => {
        const membership = await target.joinEffects(options);
        const kept = { membership, isReleased: false };
        memberships.push(kept);
        const release = (): Promise<void> => {
          kept.isReleased = true;
          return membership.release();
        };
        return { ...membership, release };
      };
    },
  });
  const assize = runtimeOver(store, [tally], { tools: [] });
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  const count = () =>
    trajectory.transaction({ writ: writFor('alice'), writes: ['r:/a'] }, (tx) =>
      tx.propose({ action: 'count', role: 'counter', args: 'x' }),
    );
  await count();
  await memberships[0]!.membership.release();
  await expect(count()).rejects.toMatchObject({ code: 'lease_lost' });
  const later = async (_: unknown, turns: number): Promise<unknown> => {
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    return assize.recoverEffects();
  };
  await Promise.all(Array.from({ length: 12 }, later));
  expect(memberships).toHaveLength(2);
  await count();
  await assize.close();
  expect(memberships.map(({ isReleased }) => isReleased)).toEqual([true, true]);
});
