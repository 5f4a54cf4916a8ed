import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore } from '@assize/testing/memory';
import type { LedgerStore } from 'assize/internal/ledger';
import { openSqlite, type SqliteStore } from 'assize/internal/stores';
import { afterAll, describe, expect, test } from 'vitest';
import { cases } from '../../../tests/support/cases.ts';
import { loggedOf, writeOf } from './effect-rows.ts';
import { effectStoreSuite } from './effect-store-suite.ts';
import { factStoreSuite } from './fact-store-suite.ts';
import {
  type FaultSchedule,
  faultAt,
  type StoreFault,
  seededDelays,
  seededFaults,
} from './faults.ts';
import { faultyStore } from './faulty-store.ts';
import { ledgerStoreSuite } from './ledger-store-suite.ts';
import { logStoreSuite } from './log-store-suite.ts';
import { oracleStoreSuite } from './oracle-store-suite.ts';
import { sideStoreSuite } from './side-store-suite.ts';
import { batchOf, blobOf, chainOf, entryAfter } from './store-rows.ts';

/** Outlives its handles, as a database does. */
class LastingMemory extends MemoryStore {
  override async close(): Promise<void> {}
}

const places = new Map<string, LastingMemory>();
function memoryAt(place: string): LastingMemory {
  const store = places.get(place) ?? new LastingMemory();
  places.set(place, store);
  return store;
}

const folder = mkdtempSync(join(tmpdir(), 'assize-faulty-'));
// Behaviour of disks is tested in other files.
const sqliteAt = (place: string): Promise<SqliteStore> =>
  openSqlite({ path: join(folder, `${place}.db`), durability: 'off' });
afterAll(() => rmSync(folder, { recursive: true }));

let opened = 0;
const late = (): FaultSchedule => seededDelays({ seed: ++opened, turnsMax: 3 });
const overtaking = (): FaultSchedule =>
  seededDelays({ seed: ++opened, turnsMax: 3, overtaking: true });

for (const suite of [ledgerStoreSuite, oracleStoreSuite, logStoreSuite, sideStoreSuite]) {
  suite({
    name: 'memory, answers late',
    open: async (place) => faultyStore(memoryAt(place), late()),
    runs: cases,
  });
  suite({
    name: 'sqlite, answers late',
    open: async (place) => faultyStore(await sqliteAt(place), late()),
    runs: cases,
  });
}

effectStoreSuite({
  name: 'sqlite, answers late',
  open: async (place) => faultyStore(await sqliteAt(`effects-${place}`), late()),
  runs: cases,
});

factStoreSuite({
  name: 'sqlite, answers late',
  open: async (place) => faultyStore(await sqliteAt(`facts-${place}`), late()),
  runs: cases,
});

const inTurn =
  'calls overtake each other on their way, and these are sent in the order in which they have to arrive';
const overtaken = {
  name: 'memory, calls and answers late',
  open: async (place: string) => faultyStore(memoryAt(`o-${place}`), overtaking()),
  runs: cases,
};
oracleStoreSuite(overtaken);
ledgerStoreSuite({
  ...overtaken,
  skip: [
    'an id is in the store once, wherever it is',
    'an empty batch changes nothing',
    'a batch may build on one that still waits',
    'when a waiting batch fails, those that build on it are conflicts',
    'when a queued batch fails for its id, batches that build on it conflict',
    'reads see committed rows and nothing else',
    'a refused batch does not disturb batches that are queued with it',
    'any interleaving of batches gives the result of a plain model',
    'a store reopened between batches gives the result of a plain model',
    'close waits for queued batches, and may be called twice',
    'a store opened again has all that was committed',
  ].map((title) => ({ test: title, reason: inTurn })),
});

describe('each fault', () => {
  const row = entryAfter(undefined, 't');
  const batch = batchOf(row, [blobOf('blob')]);
  const error = { status: 'rejected', reason: { code: 'store_failed' } };
  const dead = { status: 'rejected', reason: { code: 'store_poisoned' } };
  const unknown = { status: 'fulfilled', value: { status: 'unknown' } };
  const table: readonly {
    fault: StoreFault;
    commit: object;
    read: object;
    written: boolean;
    alive: boolean;
  }[] = [
    { fault: { kind: 'fails' }, commit: error, read: error, written: false, alive: true },
    { fault: { kind: 'lost' }, commit: unknown, read: error, written: false, alive: true },
    { fault: { kind: 'reply_lost' }, commit: unknown, read: error, written: true, alive: true },
    { fault: { kind: 'fails_after' }, commit: error, read: error, written: true, alive: true },
    {
      fault: { kind: 'conflict' },
      commit: { status: 'fulfilled', value: { status: 'conflict', trajectory_id: 't', seq: 0 } },
      read: error,
      written: false,
      alive: true,
    },
    {
      fault: { kind: 'torn', sent: true },
      commit: unknown,
      read: dead,
      written: true,
      alive: false,
    },
    {
      fault: { kind: 'torn', sent: false },
      commit: unknown,
      read: dead,
      written: false,
      alive: false,
    },
    {
      fault: { kind: 'delay', sending: 2, answering: 2 },
      commit: { status: 'fulfilled', value: { status: 'committed' } },
      read: { status: 'fulfilled', value: undefined },
      written: true,
      alive: true,
    },
  ];

  test.each(table)('$fault, at a commit', async ({ fault, commit, written, alive }) => {
    const below = new LastingMemory();
    const store = faultyStore(below, faultAt(1, fault));
    const [answer] = await Promise.allSettled([store.commit(batch)]);
    expect(answer).toMatchObject(commit);
    const [next] = await Promise.allSettled([store.head('u')]);
    expect(next.status === 'fulfilled').toBe(alive);
    if (!alive) expect(next).toMatchObject(dead);
    // Closing waits for calls that were sent.
    await store.close();
    expect(await below.resolve(row.id)).toEqual(written ? row : undefined);
    expect(await below.blob(batch.blobs[0]!.hash)).toBe(written ? 'blob' : undefined);
  });

  test.each(table)(
    '$fault, at a read and at an answer of the oracle',
    async ({ fault, read, written, alive }) => {
      const below = new LastingMemory();
      const store = faultyStore(below, faultAt(2, fault));
      await store.trajectories();
      const [answer] = await Promise.allSettled([store.head('t')]);
      expect(answer).toMatchObject(read);
      const [next] = await Promise.allSettled([store.head('t')]);
      expect(next.status === 'fulfilled').toBe(alive);
      const asking = faultyStore(below, faultAt(1, fault, 'oraclePut'));
      const put = { key: row.id, answer: '1', at: 'now' };
      const [kept] = await Promise.allSettled([asking.oraclePut(put)]);
      expect(kept.status).toBe(read === error || read === dead ? 'rejected' : 'fulfilled');
      await asking.close();
      expect(await below.oracleGet(row.id)).toEqual(written ? put : undefined);
    },
  );

  test.each(table)(
    '$fault, at a write of effects and at a tenure',
    async ({ fault, read, written, alive }) => {
      const below = new LastingMemory();
      const { fence, release } = await below.leaseEffects();
      const store = faultyStore(below, faultAt(1, fault, 'logEffects'));
      const [answer] = await Promise.allSettled([store.logEffects(writeOf(fence, 1))]);
      expect(answer).toMatchObject(
        read === error || read === dead ? read : { value: { status: 'written' } },
      );
      const [next] = await Promise.allSettled([store.openEffects()]);
      expect(next).toMatchObject(alive ? { value: written ? [loggedOf(1)] : [] } : dead);
      await store.close();
      expect(await below.openEffects()).toEqual(written ? [loggedOf(1)] : []);
      await release();
      const holding = faultyStore(below, faultAt(1, fault, 'leaseEffects'));
      const [held] = await Promise.allSettled([holding.leaseEffects()]);
      expect(held.status).toBe(read === error || read === dead ? 'rejected' : 'fulfilled');
      await holding.close();
      // The lease was granted, although its caller may not know it.
      expect((await below.logEffects({ fence })).status).toBe(written ? 'fenced' : 'written');
    },
  );

  test.each(table)('$fault, at close: a second one closes', async ({ fault }) => {
    const below = new MemoryStore();
    const store = faultyStore(below, faultAt(1, fault));
    await Promise.allSettled([store.close()]);
    await store.close();
    await expect(below.head('t')).rejects.toMatchObject({ code: 'store_closed' });
    await expect(store.head('t')).rejects.toMatchObject({ code: 'store_closed' });
  });
});

test('a handle that dies leaves all in flight in doubt, and sent calls done', async () => {
  const below = new LastingMemory();
  const chain = chainOf('t', 5);
  const store = faultyStore(below, ({ operation, nth }) => {
    if (operation !== 'commit') return undefined;
    return nth === 3
      ? { kind: 'torn', sent: false }
      : nth === 2
        ? { kind: 'delay', sending: 1, answering: 0 }
        : undefined;
  });
  const answers = chain.map((row) => store.commit(batchOf(row)));
  const outcomes = await Promise.allSettled(answers);
  expect(outcomes.slice(0, 3)).toMatchObject(
    Array.from({ length: 3 }, () => ({ status: 'fulfilled', value: { status: 'unknown' } })),
  );
  for (const late of outcomes.slice(3)) {
    expect(late).toMatchObject({ status: 'rejected', reason: { code: 'store_poisoned' } });
  }
  await store.close();
  const again = faultyStore(below, () => undefined);
  // The second call was lost on the way, the third was never sent, and the others were refused.
  expect(await again.entries('t')).toEqual(chain.slice(0, 1));
});

test('close ends a wait for a tenure, and does not wait for it', async () => {
  const below = await sqliteAt('waiting');
  await below.leaseEffects();
  const store = faultyStore(below, () => undefined);
  const waiting = Promise.allSettled([store.leaseEffects()]);
  await store.head('t');
  await store.close();
  expect(await waiting).toMatchObject([{ status: 'rejected', reason: { code: 'store_closed' } }]);
});

test('the schedule is called once for each call, with its number and arguments', async () => {
  const calls: unknown[] = [];
  const store = faultyStore(new MemoryStore(), (call) => void calls.push(call));
  const batch = batchOf(entryAfter(undefined, 't'));
  await store.commit(batch);
  await store.head('t');
  await store.commit(batch);
  expect(calls).toEqual([
    { n: 1, operation: 'commit', nth: 1, args: [batch] },
    { n: 2, operation: 'head', nth: 1, args: ['t'] },
    { n: 3, operation: 'commit', nth: 2, args: [batch] },
  ]);
});

test('the same seed draws the same faults, and another one others', async () => {
  const faults: readonly StoreFault[] = [
    { kind: 'lost' },
    { kind: 'reply_lost' },
    { kind: 'fails' },
  ];
  const run = async (seed: number): Promise<string> => {
    const store: LedgerStore = faultyStore(
      new LastingMemory(),
      seededFaults({ seed, perMille: 300, faults }),
    );
    const outcomes: string[] = [];
    for (let n = 0; n < 40; n += 1) {
      const [answer] = await Promise.allSettled([
        store.commit(batchOf(entryAfter(undefined, `t${n}`))),
      ]);
      outcomes.push(answer.status === 'fulfilled' ? answer.value.status : answer.status);
    }
    return outcomes.join();
  };
  expect(await run(1)).toBe(await run(1));
  expect(await run(1)).not.toBe(await run(2));
  expect(await run(1)).toMatch(/committed.*(unknown|rejected)/);
});

test('everything else is the store’s own', async () => {
  const below = await sqliteAt('own');
  const store = faultyStore(below, () => undefined);
  expect(store.path).toBe(below.path);
  expect(store.readonly).toBe(false);
  expect(store.commit).toBe(store.commit);
  const ahead = store.readInParallel([]);
  await ahead.close();
  await store.close();
});
