import { setTimeout as sleep } from 'node:timers/promises';
import type { Lease } from 'assize/internal/ledger';
import { expect } from 'vitest';
import { keyOf, loggedOf, writeOf } from '../effect-rows.ts';
import { batchOf, entryAfter } from '../store-rows.ts';
import type { Bench } from '../suite.ts';
import type { EffectLedger } from '../suite-types.ts';
import { WRITTEN } from './effects.ts';

const FENCED = { status: 'fenced' };

/** The promise stays pending for a while. */
async function stillWaits(waiting: Promise<unknown>): Promise<void> {
  expect(await Promise.race([waiting, sleep(50, 'waits')])).toBe('waits');
}

/** Another handle holds the lease. */
async function waitsUntilGivenUp(store: EffectLedger): Promise<void> {
  const giving = new AbortController();
  const waiting = store.leaseEffects(giving.signal).catch(() => 'given up');
  await stillWaits(waiting);
  giving.abort();
  expect(await waiting).toBe('given up');
}

/** One lease at a time among all handles on one place; writes under an ended lease are refused. */
export function leaseLaws({ law, newPlace, openAt, openNew }: Bench<EffectLedger>): void {
  law('a lease lasts until its release; then the same handle may get the next', async () => {
    const store = await openNew();
    const first = await store.leaseEffects();
    const second = store.leaseEffects();
    await stillWaits(second);
    await first.release();
    const { fence } = await second;
    expect(fence).toBeGreaterThan(first.fence);
    // The lease is over already, and the release does not end another one.
    await first.release();
    const third = store.leaseEffects();
    await stillWaits(third);
    await (await second).release();
    expect((await third).fence).toBeGreaterThan(fence);
  });

  law('each tenure knows the last epoch', async () => {
    const store = await openNew();
    const first = await store.leaseEffects();
    expect(first.lastEpoch).toBe(0);
    await store.logEffects({ ...writeOf(first.fence, 12), ended: [12] });
    await store.logEffects(writeOf(first.fence, 7));
    await first.release();
    const second = await store.leaseEffects();
    expect(second.lastEpoch).toBe(12);
    await second.release();
    expect((await store.leaseEffects()).lastEpoch).toBe(12);
  });

  law('writes under a lease are fenced once another lease was granted', async () => {
    const store = await openNew();
    const first = await store.leaseEffects();
    await store.logEffects(writeOf(first.fence, 1));
    await first.release();
    const second = await store.leaseEffects();
    expect(await store.logEffects(writeOf(first.fence, 2))).toEqual(FENCED);
    // Not even a repeated write; and a fenced writer gets no error for misuse.
    expect(await store.logEffects(writeOf(first.fence, 1))).toEqual(FENCED);
    expect(await store.logEffects({ fence: first.fence })).toEqual(FENCED);
    expect(await store.logEffects({ fence: first.fence, ended: [9] })).toEqual(FENCED);
    const root = entryAfter(undefined, 't');
    expect(await store.commit({ ...batchOf(root), effects: writeOf(first.fence, 2) })).toEqual(
      FENCED,
    );
    expect(await store.logEffects({ fence: second.fence + 1 })).toEqual(FENCED);
    expect(await store.openEffects()).toEqual([loggedOf(1)]);
    expect([await store.head('t'), await store.effectKey(keyOf(2).key)]).toEqual([
      undefined,
      undefined,
    ]);
    expect(await store.logEffects(writeOf(second.fence, 2))).toEqual(WRITTEN);
  });

  law('a wait for a lease can be cancelled without disturbing other waiters', async () => {
    const store = await openNew();
    const first = await store.leaseEffects();
    const giving = new AbortController();
    const reason = new Error('enough');
    const second = store.leaseEffects(giving.signal);
    const third = store.leaseEffects();
    await stillWaits(second);
    giving.abort(reason);
    const given = await Promise.allSettled([second, store.leaseEffects(giving.signal)]);
    expect(given).toEqual([
      { status: 'rejected', reason },
      { status: 'rejected', reason },
    ]);
    await stillWaits(third);
    await first.release();
    expect((await third).fence).toBeGreaterThan(first.fence);
    // Cancelled too late: the lease is held.
    const late = new AbortController();
    await (await third).release();
    const { fence } = await store.leaseEffects(late.signal);
    late.abort();
    expect(await store.logEffects({ fence })).toEqual(WRITTEN);
    await waitsUntilGivenUp(store);
  });

  law('close ends every wait for a tenure', async () => {
    const store = await openNew();
    await store.leaseEffects();
    const waiting = [store.leaseEffects(), store.leaseEffects(new AbortController().signal)];
    const settled = Promise.allSettled(waiting);
    await stillWaits(settled);
    await store.close();
    for (const answer of await settled) {
      expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'store_closed' } });
    }
  });

  law('a tenure is one handle’s at a time, and ends with its handle', async () => {
    const place = newPlace();
    const [left, right] = [await openAt(place), await openAt(place)];
    const first = await left.leaseEffects();
    const waiting = right.leaseEffects();
    await stillWaits(waiting);
    const logging = left.logEffects(writeOf(first.fence, 3));
    await left.close();
    const second = await waiting;
    expect(second.fence).toBeGreaterThan(first.fence);
    // Calls that `close` still accepted were written before.
    expect(await logging).toEqual(WRITTEN);
    expect(second.lastEpoch).toBe(3);
    await first.release();
    const again = await openAt(place);
    expect(await again.logEffects({ fence: first.fence })).toEqual(FENCED);
    await waitsUntilGivenUp(again);
    expect(await again.logEffects(writeOf(second.fence, 4))).toEqual(WRITTEN);
  });

  law('a handle hears that it is fenced, though it knew of the effects', async () => {
    const place = newPlace();
    const [left, right] = [await openAt(place), await openAt(place)];
    const first = await left.leaseEffects();
    await left.logEffects(writeOf(first.fence, 1));
    await first.release();
    const second = await right.leaseEffects();
    expect(second).toMatchObject({ lastEpoch: 1 });
    const late = { fence: first.fence, records: [{ epoch: 1, place: 1, record: 'late' }] };
    expect(await left.logEffects(late)).toEqual(FENCED);
    expect(await right.logEffects({ ...late, fence: second.fence, ended: [1] })).toEqual(WRITTEN);
    expect(await left.openEffects()).toEqual([]);
  });

  law('of many lease requests over two handles each is granted, one at a time', async () => {
    const place = newPlace();
    const stores = [await openAt(place), await openAt(place)];
    let having = 0;
    const fences: number[] = [];
    const work = async (_: unknown, n: number): Promise<void> => {
      const store = stores[n % 2]!;
      const tenure: Lease = await store.leaseEffects();
      having += 1;
      expect(having).toBe(1);
      expect(await store.logEffects(writeOf(tenure.fence, tenure.lastEpoch + 1))).toEqual(WRITTEN);
      fences.push(tenure.fence);
      having -= 1;
      await tenure.release();
    };
    await Promise.all(Array.from({ length: 12 }, work));
    expect(new Set(fences).size).toBe(12);
    expect(fences).toEqual(fences.toSorted((a, b) => a - b));
    expect((await stores[0]!.openEffects()).map(({ epoch }) => epoch)).toEqual(
      fences.map((_, n) => n + 1),
    );
  });
}
