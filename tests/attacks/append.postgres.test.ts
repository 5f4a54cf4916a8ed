/** Attacks 9 to 12 of docs/design/threats.md: appends that lose, double or jam something. */
import { describe, expect, test } from 'vitest';
import { type LedgerStore, readRow } from '#ledger';
import { seededRandom } from '#oracle';
import type { Ruling, Trajectory } from '#runtime';
import { batchOf, blobOf, chainOf, entryAfter } from '../../packages/testing/src/store-rows.ts';
import {
  allEntries,
  type DeskState,
  desk,
  type Fault,
  FaultyStore,
  soundState,
} from '../support/ledger/desk.ts';
import { intent, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { onEveryStore } from '../support/ledger/stores.ts';

const worker = writFor('agent');
const add = (idempotencyKey: string, by = 1) => intent('add', { by }, worker, { idempotencyKey });
const idOf = (ruling: Ruling): string => (ruling.ruling === 'frozen' ? '' : ruling.entry.id);
const nOf = (trajectory: Trajectory): number => (trajectory.state() as DeskState).n;

onEveryStore((stores) => {
  const begun = (store: LedgerStore): Promise<Trajectory> =>
    runtimeOver(store, [desk]).create(desk, { trajectoryId: 't', writs: [worker] });
  const reopened = (store: LedgerStore, process: string): Promise<Trajectory> =>
    runtimeOver(store, [desk], { ports: { random: seededRandom(process) } }).open('t');

  describe('attack 9: 100 racing appends, stale head: 1 commit, 99 conflicts, no gap', () => {
    test('to the store, through ten handles', async () => {
      const place = stores.newPlace();
      const handles = await Promise.all(Array.from({ length: 10 }, () => place.open()));
      const first = handles[0]!;
      const chain = chainOf('t', 3);
      await first.commit(batchOf(chain));
      const rivals = Array.from({ length: 100 }, (_, n) => entryAfter(chain[2], 't', n));
      const results = await Promise.all(
        rivals.map((row, n) => handles[n % 10]!.commit(batchOf(row))),
      );
      const [won, ...more] = rivals.filter((_, n) => results[n]!.status === 'committed');
      expect(more).toEqual([]);
      expect(results.filter(({ status }) => status === 'conflict')).toHaveLength(99);
      expect(results).toContainEqual({ status: 'conflict', trajectory_id: 't', seq: 3 });
      expect(await first.entries('t')).toEqual([...chain, won]);
    });

    test('to the runtime, in ten processes: each is adjudicated again, stored once', async () => {
      const place = stores.newPlace();
      await begun(await place.open());
      const names = Array.from({ length: 10 }, (_, n) => `process ${n}`);
      const trajectories = await Promise.all(
        names.map(async (name) => reopened(await place.open(), name)),
      );
      // All of them hold the same head. A process that loses eight times gets an error and has
      // written nothing.
      const answers = await Promise.allSettled(
        trajectories.map((trajectory, n) => trajectory.propose(add(`key ${n}`))),
      );
      const committed = answers.flatMap((answer) =>
        answer.status === 'fulfilled' ? [idOf(answer.value)] : [],
      );
      for (const answer of answers) {
        if (answer.status === 'rejected')
          expect(answer.reason).toMatchObject({ code: 'conflict', retryable: true });
      }
      const store = await place.open();
      const rows = await allEntries(store, 't');
      expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, n) => n));
      expect(new Set(rows.slice(1).map(({ id }) => id))).toEqual(new Set(committed));
      expect(JSON.parse(await soundState(store, 't')).n).toBe(committed.length);
    });
  });

  test('attack 10: a reused key gives idempotency_conflict or the same entry', async () => {
    const place = stores.newPlace();
    const store = await place.open();
    const trajectory = await begun(store);
    const first = await trajectory.propose(add('key'));
    for (const other of [
      add('key', 2),
      intent('ask', { amount: 1 }, worker, { idempotencyKey: 'key' }),
    ]) {
      await expect(trajectory.propose(other)).rejects.toMatchObject({
        code: 'idempotency_conflict',
      });
    }
    const again = await Promise.all(
      Array.from({ length: 20 }, () => trajectory.propose(add('key'))),
    );
    // Also by a process that never saw it.
    const another = await reopened(await place.open(), 'another');
    await expect(another.propose(add('key', 2))).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
    again.push(await another.propose(add('key')));
    expect(new Set(again.map(idOf))).toEqual(new Set([idOf(first)]));
    expect(await allEntries(store, 't')).toHaveLength(2);
    expect(nOf(trajectory)).toBe(1);
  });

  describe('attack 11: after a lost COMMIT answer a retry gives the same entry, once', () => {
    test.each<Fault>(['unknown, written', 'thrown, written'])('%s', async (fault) => {
      const place = stores.newPlace();
      const store = new FaultyStore(await place.open());
      const trajectory = await begun(store);
      store.commits = 0;
      store.plan = new Map([[1, fault]]);
      const [answer] = await Promise.allSettled([trajectory.propose(add('key'))]);
      const [, written] = await allEntries(store, 't');
      // If the outcome can be found, the caller gets it. Otherwise it gets an error, and never
      // "nothing was written".
      if (answer.status === 'fulfilled') expect(idOf(answer.value)).toBe(written?.id);
      else expect(answer.reason).toMatchObject({ message: 'the store threw' });
      expect(idOf(await trajectory.propose(add('key')))).toBe(written?.id);
      expect(idOf(await (await reopened(await place.open(), 'another')).propose(add('key')))).toBe(
        written?.id,
      );
      expect(await allEntries(store, 't')).toHaveLength(2);
      expect(nOf(trajectory)).toBe(1);
      expect(JSON.parse(await soundState(store, 't')).n).toBe(1);
    });
  });

  describe('attack 12: an empty append or action: head kept or one entry, no jam', () => {
    test('of nothing: committed, and no head has moved', async () => {
      const place = stores.newPlace();
      const store = await place.open();
      const chain = chainOf('t', 3);
      await store.commit(batchOf(chain.slice(0, 2)));
      const head = await store.head('t');
      expect(await store.commit(batchOf([]))).toEqual({ status: 'committed' });
      // Among others, in one group with them.
      const others = [
        batchOf([]),
        batchOf(chain[2]!),
        batchOf([]),
        batchOf([], [blobOf('b')]),
        batchOf([]),
      ];
      const results = await Promise.all(others.map((batch) => store.commit(batch)));
      expect(results).toEqual(others.map(() => ({ status: 'committed' })));
      expect(head).toEqual(chain[1]);
      expect(await (await place.open()).entries('t')).toEqual(chain);
      expect((await store.trajectories()).map(({ entries }) => entries)).toEqual([3]);
      expect(await store.commit(batchOf(entryAfter(chain[2], 't')))).toEqual({
        status: 'committed',
      });
    });

    test('without an effect: one entry with an empty change, the next follows it', async () => {
      const store = await stores.newPlace().open();
      const trajectory = await begun(store);
      const nothing = await trajectory.propose(add('nothing', 0));
      expect(nothing).toMatchObject({ ruling: 'committed', entry: { seq: 1 } });
      if (nothing.ruling === 'committed')
        expect(readRow(nothing.entry).payload).toMatchObject({ delta: { state: [] } });
      const next = await trajectory.propose(add('something'));
      expect(next).toMatchObject({ ruling: 'committed', entry: { seq: 2, parent: idOf(nothing) } });
      expect(JSON.parse(await soundState(store, 't')).n).toBe(1);
    });
  });
});
