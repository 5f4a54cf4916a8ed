import { setTimeout as sleep } from 'node:timers/promises';
import type { LedgerStore } from 'assize/internal/ledger';
import { expect } from 'vitest';
import { batchOf, entryAfter } from '../store-rows.ts';
import type { Bench } from '../suite.ts';
import { COMMITTED } from './answers.ts';

type Turn = (() => void) | undefined;

/**
 * One write lock at a time among all handles on one place, and no append depends on it. For stores
 * with write locks.
 */
export function writeLockLaws({ law, newPlace, openAt }: Bench<LedgerStore>): void {
  /** Two handles. Undefined if the store has no write locks. */
  const openTwo = async (): Promise<[LedgerStore, LedgerStore] | undefined> => {
    const place = newPlace();
    const stores: [LedgerStore, LedgerStore] = [await openAt(place), await openAt(place)];
    return stores[0].acquireWriteLock === undefined ? undefined : stores;
  };
  const take = (store: LedgerStore): Promise<Turn> => store.acquireWriteLock!('t');

  law('a turn is one handle’s until it ends it, and then another’s', async () => {
    const [left, right] = (await openTwo()) ?? [];
    if (left === undefined || right === undefined) return;
    const first = await take(left);
    expect(first).toBeTypeOf('function');
    const order: string[] = [];
    const second = take(right).then((end) => {
      order.push('second');
      return end;
    });
    await Promise.race([second, sleep(50)]);
    order.push('first ended');
    first!();
    const end = await second;
    expect(end).toBeTypeOf('function');
    expect(order).toEqual(['first ended', 'second']);
    end!();
    const again = await take(left);
    expect(again).toBeTypeOf('function');
    again!();
  });

  law('a timed-out wait gets no write lock; a wait after the release gets it', async () => {
    const [left, right] = (await openTwo()) ?? [];
    if (left === undefined || right === undefined) return;
    const end = await take(left);
    expect(await take(right)).toBeUndefined();
    end!();
    const next = await take(right);
    expect(next).toBeTypeOf('function');
    next!();
  });

  law('a write lock ends with its handle, and close does not wait for a release', async () => {
    const [left, right] = (await openTwo()) ?? [];
    if (left === undefined || right === undefined) return;
    expect(await take(left)).toBeTypeOf('function');
    const waiting = take(right);
    await left.close();
    const end = await waiting;
    expect(end).toBeTypeOf('function');
    end!();
    await expect(take(left)).rejects.toMatchObject({ code: 'store_closed' });
  });

  law('concurrent requests over two handles all get the write lock, one by one', async () => {
    const stores = await openTwo();
    if (stores === undefined) return;
    let having = 0;
    let had = 0;
    const work = async (_: unknown, n: number): Promise<void> => {
      const end = await take(stores[n % 2]!);
      expect(end).toBeTypeOf('function');
      having += 1;
      expect(having).toBe(1);
      await sleep(1);
      had += 1;
      having -= 1;
      end!();
    };
    await Promise.all(Array.from({ length: 12 }, work));
    expect(had).toBe(12);
  });

  law('appends ignore the write lock, and a repeated release ends no other lock', async () => {
    const [left, right] = (await openTwo()) ?? [];
    if (left === undefined || right === undefined) return;
    const end = await take(left);
    const root = entryAfter(undefined, 't');
    expect(await right.commit(batchOf(root))).toEqual(COMMITTED);
    end!();
    const next = await take(right);
    end!();
    expect(await take(left)).toBeUndefined();
    expect(await left.commit(batchOf(entryAfter(root, 't')))).toEqual(COMMITTED);
    next!();
  });
}
