import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { EntryRow } from '#ledger';
import { WriterProcess } from '../../testing/store-process.ts';
import { batchOf, blobOf, entryAfter } from '../../testing/store-rows.ts';
import { openSqlite, type SqliteStore } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-crash-'));
afterAll(() => rmSync(folder, { recursive: true }));

const ROUNDS = 15;
const TRAJECTORIES = 4;

/** Park and Miller's: the rounds differ, and a failed run can be run again. */
function* randomNumbers(seed: number): Generator<number> {
  for (let state = seed; ; ) {
    state = (state * 48_271) % 2_147_483_647;
    yield state / 2_147_483_647;
  }
}

async function allEntries(store: SqliteStore): Promise<EntryRow[]> {
  const all: EntryRow[] = [];
  for (const { trajectory_id, entries } of await store.trajectories()) {
    const rows = await store.entries(trajectory_id, { limit: entries });
    expect(rows).toHaveLength(entries);
    all.push(...rows);
  }
  return all;
}

/** Every chain is whole, every batch of the writers is there with both entries and its blob, or not at all. */
async function expectWhole(store: SqliteStore): Promise<EntryRow[]> {
  const rows = await allEntries(store);
  for (const [index, row] of rows.entries()) {
    const before = row.seq === 0 ? undefined : rows[index - 1];
    const { id, trajectory_id, parent, seq } = row;
    expect({ id, trajectory_id, parent, seq }).toEqual({
      id: hash('sha256', row.payload),
      trajectory_id: before?.trajectory_id ?? trajectory_id,
      parent: before?.id ?? null,
      seq: before === undefined ? 0 : before.seq + 1,
    });
  }
  const firsts = rows.filter((row) => row.seq % 2 === 0);
  expect(firsts).toHaveLength(rows.length / 2);
  for (const { id } of firsts) {
    const blob = blobOf(`${id}${'.'.repeat(6_000)}`);
    expect(await store.blob(blob.hash)).toBe(blob.text);
  }
  return rows;
}

function expectAll(rows: readonly EntryRow[], acknowledged: readonly string[]): void {
  const ids = new Set(rows.map((row) => row.id));
  expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
}

describe('kill -9', () => {
  test(`no acknowledged entry is lost and none is torn, ${ROUNDS} times on one file`, async () => {
    const path = join(folder, 'killed.db');
    const random = randomNumbers(20_260_323);
    const acknowledged: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const writer = new WriterProcess(path, TRAJECTORIES);
      await writer.reach(Math.floor(random.next().value! * 200));
      await new Promise((resolve) => setTimeout(resolve, random.next().value! * 20));
      await writer.kill();
      acknowledged.push(...writer.acknowledged);
      const store = await openSqlite({ path });
      expectAll(await expectWhole(store), acknowledged);
      await store.close();
    }
    expect(acknowledged.length).toBeGreaterThan(ROUNDS);
  });

  test('a reader beside a killed writer reads what was acknowledged', async () => {
    const path = join(folder, 'read.db');
    const writer = new WriterProcess(path, TRAJECTORIES);
    await writer.reach(50);
    await writer.kill();
    const reader = await openSqlite({ path, mode: 'readonly' });
    expectAll(await expectWhole(reader), writer.acknowledged);
    await reader.close();
  });
});

describe('several processes on one file', () => {
  test('leave one chain a trajectory with all that was acknowledged, also when they are killed', async () => {
    const path = join(folder, 'shared.db');
    await (await openSqlite({ path })).close();
    const writers = [new WriterProcess(path, 2), new WriterProcess(path, 2)];
    const store = await openSqlite({ path });
    const reader = await openSqlite({ path, mode: 'readonly' });
    const own: string[] = [];
    while (own.length < 30 || writers.some((writer) => writer.acknowledged.length < 60)) {
      const first = entryAfter(await store.head('t0'), 't0', 'here');
      const blob = blobOf(`${first.id}${'.'.repeat(6_000)}`);
      const batch = batchOf([first, entryAfter(first, 't0', 'here')], [blob]);
      if ((await store.commit(batch)).status === 'committed') own.push(first.id);
      expect(await reader.resolve(first.id)).toEqual(own.at(-1) === first.id ? first : undefined);
    }
    await expectWhole(reader);
    for (const writer of writers) await writer.kill();
    const rows = await expectWhole(store);
    expectAll(rows, [...own, ...writers.flatMap((writer) => writer.acknowledged)]);
    await reader.close();
    await store.close();
  });
});

describe.skipIf(process.platform === 'win32')('a disk that is full', () => {
  test('poisons the writer; what it acknowledged is there, the rest whole or not at all', async () => {
    const path = join(folder, 'full.db');
    const writer = new WriterProcess(path, TRAJECTORIES, { fileBytesMax: 2 ** 20 });
    await writer.end();
    expect(writer.poisoned).toBe(true);
    expect(writer.acknowledged.length).toBeGreaterThan(0);
    expect(writer.unknown.length).toBeGreaterThan(0);
    const store = await openSqlite({ path });
    const rows = await expectWhole(store);
    expectAll(rows, writer.acknowledged);
    const head = rows.findLast((row) => row.trajectory_id === 't0')!;
    expect(await store.commit(batchOf(entryAfter(head, 't0')))).toEqual({ status: 'committed' });
    await store.close();
  });
});
