import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { keyOf, loggedOf, writeOf } from '@assize/testing/internal/effect-rows.ts';
import { effectStoreSuite } from '@assize/testing/internal/effect-store-suite.ts';
import { interceptSql, sqliteError } from '@assize/testing/internal/intercept.ts';
import { batchOf, entryAfter } from '@assize/testing/internal/store-rows.ts';
import { afterAll, expect, test, vi } from 'vitest';
import { cases } from '../../../../../../tests/support/cases.ts';
import { openSqlite } from '../open.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-effects-'));
afterAll(() => rmSync(folder, { recursive: true }));

effectStoreSuite({
  name: 'sqlite',
  open: (place) => openSqlite({ path: join(folder, `${place}.db`) }),
  runs: cases,
});

const WRITTEN = { status: 'written' };

test('a holder that has lost its lock file is fenced by the next holder', async () => {
  const path = join(folder, 'lost.db');
  const [left, right] = [await openSqlite({ path }), await openSqlite({ path })];
  const first = await left.leaseEffects();
  expect(await left.logEffects(writeOf(first.fence, 1))).toEqual(WRITTEN);
  expect(statSync(`${path}-effects`).size).toBe(0);
  rmSync(`${path}-effects`);
  const second = await right.leaseEffects();
  expect(second).toMatchObject({ fence: first.fence + 1, lastEpoch: 1 });
  expect(await left.logEffects({ fence: first.fence, ended: [1] })).toEqual({ status: 'fenced' });
  expect(await right.openEffects()).toEqual([loggedOf(1)]);
  await first.release();
  expect(await right.logEffects({ fence: second.fence, ended: [1] })).toEqual(WRITTEN);
  await left.close();
  await right.close();
});

test('a file has one lease, through any link that opens it', async () => {
  const path = join(folder, 'linked.db');
  const first = await openSqlite({ path });
  const link = join(folder, 'link.db');
  symlinkSync(path, link);
  const second = await openSqlite({ path: link });
  const held = await first.leaseEffects();
  const waits = new AbortController();
  const other = second.leaseEffects(waits.signal).catch((error: unknown) => error);
  // The second store has tried the lease's file before it requests the write lock. It does not
  // acquire that either.
  const turn = (await first.acquireWriteLock('t'))!;
  expect(await second.acquireWriteLock('t')).toBeUndefined();
  turn();
  waits.abort(new Error('it is not free'));
  expect(await other).toBe(waits.signal.reason);
  expect([existsSync(`${link}-effects`), existsSync(`${link}-turn`)]).toEqual([false, false]);
  await held.release();
  await first.close();
  await second.close();
});

test('a batch that is rolled back leaves nothing in memory of its effects', async () => {
  const store = await openSqlite({ path: join(folder, 'back.db') });
  const { fence } = await store.leaseEffects();
  const root = entryAfter(undefined, 't');
  await store.commit(batchOf(root));
  // Only the insert detects the duplicate id, after the effects of the same group are written.
  const copy = { ...entryAfter(undefined, 'u'), id: root.id };
  const answers = await Promise.all([
    store.logEffects(writeOf(fence, 1, ['a'])),
    store.commit({
      ...batchOf(copy),
      effects: { fence, records: [{ epoch: 1, place: 1, record: 'b' }] },
    }),
    store.logEffects({ fence, records: [{ epoch: 1, place: 1, record: 'c' }] }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(['written', 'conflict', 'written']);
  expect(await store.openEffects()).toEqual([loggedOf(1, ['a', 'c'])]);
  await store.close();
});

test('close keeps the lease until the queued writes are written', async () => {
  const path = join(folder, 'closing.db');
  const store = await openSqlite({ path });
  const { fence } = await store.leaseEffects();
  const other = new DatabaseSync(`${path}-effects`, { timeout: 0 });
  const isFree = (): boolean => {
    try {
      other.exec('BEGIN IMMEDIATE; ROLLBACK');
      return true;
    } catch {
      return false;
    }
  };
  const seen: boolean[] = [];
  const logging = store.logEffects(writeOf(fence, 1));
  interceptSql((sql, proceed) => {
    if (sql === 'COMMIT') seen.push(isFree());
    return proceed();
  });
  await store.close();
  vi.restoreAllMocks();
  expect(await logging).toEqual(WRITTEN);
  expect([...seen, isFree()]).toEqual([false, true]);
  other.close();
});

test('a write that is refused costs the others of its group no rollback', async () => {
  const store = await openSqlite({ path: join(folder, 'refused.db') });
  const { fence } = await store.leaseEffects();
  await store.logEffects(writeOf(fence, 1));
  const ran: string[] = [];
  interceptSql((sql, proceed) => {
    if (/^(COMMIT|ROLLBACK)/.test(sql)) ran.push(sql);
    return proceed();
  });
  const answers = await Promise.allSettled([
    store.logEffects(writeOf(fence, 2)),
    store.logEffects({ fence, records: [{ epoch: 1, place: 9, record: 'gap' }] }),
    store.logEffects({ ...writeOf(fence, 3), keys: [keyOf(3, 0, '1/0')] }),
    store.logEffects(writeOf(fence + 1, 3)),
    store.logEffects(writeOf(fence, 4)),
  ]);
  vi.restoreAllMocks();
  expect(answers.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    ...Array(3).fill('fulfilled'),
  ]);
  expect(ran).toEqual(['COMMIT']);
  expect((await store.openEffects()).map(({ epoch }) => epoch)).toEqual([1, 2, 4]);
  await store.close();
});

test('a write of effects goes into the transaction of the batches that wait', async () => {
  const store = await openSqlite({ path: join(folder, 'group.db') });
  const { fence } = await store.leaseEffects();
  let commits = 0;
  interceptSql((sql, proceed) => {
    if (sql === 'COMMIT') commits += 1;
    return proceed();
  });
  const epochs = Array.from({ length: 16 }, (_, n) => n + 1);
  await Promise.all(
    epochs.map((epoch) =>
      epoch % 2 === 0
        ? store.logEffects(writeOf(fence, epoch))
        : store.commit({
            ...batchOf(entryAfter(undefined, `t${epoch}`)),
            effects: writeOf(fence, epoch),
          }),
    ),
  );
  vi.restoreAllMocks();
  expect(commits).toBe(1);
  expect((await store.openEffects()).map(({ epoch }) => epoch)).toEqual(epochs);
  await store.close();
});

test('a write with a failed sync is in doubt, and is an error of logEffects', async () => {
  const path = join(folder, 'doubt.db');
  const store = await openSqlite({ path });
  const { fence } = await store.leaseEffects();
  interceptSql((sql, proceed) => {
    if (sql === 'COMMIT') throw sqliteError(10);
    return proceed();
  });
  const writes = [
    store.logEffects(writeOf(fence, 1)),
    store.commit({ ...batchOf([]), effects: writeOf(fence, 2) }),
  ];
  const [logged, batched] = await Promise.allSettled(writes);
  vi.restoreAllMocks();
  expect(logged).toMatchObject({ status: 'rejected', reason: { code: 'store_poisoned' } });
  expect(batched).toMatchObject({
    value: { status: 'unknown', cause: { code: 'store_poisoned' } },
  });
  await expect(store.leaseEffects()).rejects.toMatchObject({ code: 'store_poisoned' });
  await store.close();
  const again = await openSqlite({ path });
  expect((await again.leaseEffects()).fence).toBe(fence + 1);
  await again.close();
});

test('a store that is only read has effects and takes none', async () => {
  const path = join(folder, 'read.db');
  const store = await openSqlite({ path });
  const { fence } = await store.leaseEffects();
  await store.logEffects(writeOf(fence, 1));
  await store.close();
  const reader = await openSqlite({ path, mode: 'readonly' });
  expect(await reader.openEffects()).toEqual([loggedOf(1)]);
  expect(await reader.effectsOf(1)).toEqual(loggedOf(1));
  expect(await reader.effectKey(keyOf(1).key)).toEqual(keyOf(1));
  for (const call of [() => reader.leaseEffects(), () => reader.logEffects({ fence })])
    await expect(call()).rejects.toMatchObject({ code: 'store_readonly' });
  await reader.close();
});

test('rows of effects that nothing leads to are found', async () => {
  const path = join(folder, 'check.db');
  const store = await openSqlite({ path });
  const { fence } = await store.leaseEffects();
  await store.logEffects(writeOf(fence, 1, ['a', 'b', 'c']));
  await store.logEffects({ ...writeOf(fence, 2), ended: [2] });
  // The records of this test are not real records, so none has the keys.
  expect(await store.selfCheck()).toEqual([
    '2 keys of effects are in no record of their transaction',
  ]);
  const db = new DatabaseSync(path);
  db.exec(`DELETE FROM effect_record WHERE epoch = 1 AND place = 1;
    INSERT INTO effect_record VALUES (5, 0, ''), (5, 1, '');
    INSERT INTO effect_key VALUES (zeroblob(32), 7, 0);
    INSERT INTO effect_open VALUES (8);
    DELETE FROM effect_tenure`);
  db.close();
  expect(await store.selfCheck()).toEqual([
    '2 records of the effect log belong to no transaction',
    '1 transactions have gaps in the effect log',
    '1 keys of effects belong to no transaction',
    '3 keys of effects are in no record of their transaction',
    '1 transactions are open but do not exist',
    '1 fences are missing or too many',
  ]);
  await store.close();
});
