import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { MemoryStore } from '@assize/testing/memory';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EntryRow, LedgerStore, ParallelReader, VerifiedRun } from '#ledger';
import { openStore } from '#stores';
import {
  branchMembers,
  ChainWriter,
  commitMembers,
  everyKind,
  keysOf,
  rejectionMembers,
  rootMembers,
  second,
  withByte,
} from '../../../../../tests/support/ledger/rows.ts';
import { openUnguarded } from '../../../../../tests/support/ledger/unguarded.ts';
import { verifyStore } from './verify.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-verify-'));
const whole = join(folder, 'whole.db');
const changed = join(folder, 'changed.db');

/** Three trajectories, with enough entries for a second thread. */
const [a, b, c] = [new ChainWriter('a'), new ChainWriter('b'), new ChainWriter('c')];
const LENGTHS = [9_000, 9_500, 2_500];

beforeAll(async () => {
  a.add('root', rootMembers({ n: 0 }));
  b.add('root', rootMembers({ n: 0 }));
  for (const [writer, count] of [
    [a, LENGTHS[0]!],
    [b, LENGTHS[1]!],
  ] as const) {
    for (let n = 1; n < count; n++)
      writer.add('commit', commitMembers([{ op: 'replace', path: '/n', value: n }]));
  }
  c.add('branch', { ...branchMembers(b.rows[4_000] as EntryRow), at: second(20_000) });
  for (let n = 1; n < LENGTHS[2]!; n++)
    c.add('rejection', rejectionMembers({ at: second(20_000 + n) }));
  const store = await openStore(`sqlite:${whole}`);
  for (const { rows } of [a, b, c]) await store.commit({ entries: rows, blobs: [] });
  await store.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Verifies a copy of the file that was changed with SQL, on one thread and on two: they must agree.
 */
async function verifiedAfter(change: (db: DatabaseSync) => void) {
  copyFileSync(whole, changed);
  const db = openUnguarded(changed);
  change(db);
  db.close();
  const store = await openStore(`sqlite:${changed}`);
  try {
    const one = await verifyStore(store, { threads: 1 });
    expect(await verifyStore(store, { threads: 2 })).toEqual(one);
    return one;
  } finally {
    await store.close();
  }
}

const PLACE = `WHERE trajectory = (SELECT key FROM trajectory WHERE name = ?) AND seq = ?`;
function setPayload(
  db: DatabaseSync,
  name: string,
  seq: number,
  make: (text: string) => string,
): void {
  const { payload } = db.prepare(`SELECT payload FROM entry ${PLACE}`).get(name, seq) as {
    payload: string;
  };
  db.prepare(`UPDATE entry SET payload = ? ${PLACE}`).run(make(payload), name, seq);
}

describe('on one thread and on two', () => {
  test('an honest ledger is valid', async () => {
    expect(await verifiedAfter(() => {})).toMatchObject([
      { trajectory_id: 'a', valid: true, entries: LENGTHS[0]! },
      { trajectory_id: 'b', valid: true, entries: LENGTHS[1]! },
      { trajectory_id: 'c', valid: true, entries: LENGTHS[2]! },
    ]);
  });

  const places: [number | undefined, number | undefined, number | undefined][] = [
    [0, 0, undefined],
    [1, 4_001, 0],
    [1_999, 5_000, 2_499],
    [2_000, 9_499, 1_999],
    [8_999, undefined, 2_000],
  ];
  test.each(places)('bytes changed in a %s, b %s, c %s', async (...seqs) => {
    const reports = await verifiedAfter((db) => {
      for (const [i, seq] of seqs.entries()) {
        const name = 'abc'[i] as string;
        if (seq !== undefined)
          setPayload(db, name, seq, (text) => withByte(text, 77 + (seq % 100), 1));
      }
    });
    for (const [i, seq] of seqs.entries()) {
      const trajectory_id = 'abc'[i] as string;
      if (seq === undefined) expect(reports[i]).toMatchObject({ valid: i !== 2 || seqs[1] !== 0 });
      else
        expect(reports[i]).toMatchObject({
          valid: false,
          entries: seq,
          fault: { trajectory_id, seq, code: 'tampered' },
        });
    }
  });

  const changes: [string, (text: string) => string][] = [
    ['no JSON', () => '{'],
    ['nothing', () => ''],
    ['null', () => 'null'],
    ['a list', () => '[]'],
    ['another parent_commit', (text) => text.replace(/"parent_commit":"./, '"parent_commit":"g')],
    ['another time', (text) => text.replace('"at":"2026', '"at":"2025')],
    ['another value', (text) => text.replace(/"value":\d+/, '"value":-1')],
    ['another path', (text) => text.replace('"/n"', '"/m"')],
    ['another kind', (text) => text.replace('"kind":"commit"', '"kind":"branch"')],
    ['another seq', (text) => text.replace(/"seq":\d/, '"seq":1')],
  ];
  const pairs = changes.flatMap((change, i) =>
    i % 2 === 0 ? [[change, changes[i + 1] as typeof change] as const] : [],
  );
  test.each(pairs)('%s and %s in the place of two texts', async (one, other) => {
    const reports = await verifiedAfter((db) => {
      setPayload(db, 'a', 8_900, one[1]);
      setPayload(db, 'b', 9_400, other[1]);
      setPayload(db, 'b', 9_450, other[1]);
    });
    expect(reports[0]).toMatchObject({
      valid: false,
      entries: 8_900,
      fault: { seq: 8_900, code: 'tampered' },
    });
    expect(reports[1]).toMatchObject({
      valid: false,
      entries: 9_400,
      fault: { seq: 9_400, code: 'tampered' },
    });
  });

  test('entries dropped, moved and turned round', async () => {
    const reports = await verifiedAfter((db) => {
      const drop = db.prepare(`DELETE FROM entry ${PLACE}`);
      drop.run('a', 0);
      drop.run('b', 9_300);
      const move = db.prepare(`UPDATE entry SET seq = ? ${PLACE}`);
      move.run(100_000, 'c', 2_400);
      move.run(2_400, 'c', 2_401);
      move.run(2_401, 'c', 100_000);
    });
    expect(reports).toMatchObject([
      { valid: false, entries: 0, fault: { seq: 1, code: 'broken_chain' } },
      { valid: false, entries: 9_300, fault: { seq: 9_301, code: 'broken_chain' } },
      { valid: false, entries: 2_400, fault: { seq: 2_400, code: 'column_mismatch' } },
    ]);
    // A fault that a chain alone does not show (a checkpoint does).
    const cut = await verifiedAfter(
      (db) => void db.prepare(`DELETE FROM entry ${PLACE}`).run('c', 2_499),
    );
    expect(cut[2]).toMatchObject({ valid: true, entries: 2_499 });
  });

  test('a branch of a source changed before the branching point is also invalid', async () => {
    const reports = await verifiedAfter((db) =>
      setPayload(db, 'b', 3_000, (text) => withByte(text, 90, 1)),
    );
    expect(reports).toMatchObject([
      { valid: true },
      { valid: false, fault: { seq: 3_000, code: 'tampered' } },
      { valid: false, entries: 0, fault: { trajectory_id: 'c', seq: 0, code: 'source_missing' } },
    ]);
  });
});

test('the second thread hands over every row except the changed ones', async () => {
  copyFileSync(whole, changed);
  const db = openUnguarded(changed);
  const spoilt: { trajectory_id: string; seq: number }[] = [];
  db.exec('BEGIN');
  for (const { rows } of [a, b, c]) {
    for (let seq = 0, offset = 0; seq < rows.length; seq += 7, offset++) {
      const row = rows[seq] as EntryRow;
      setPayload(db, row.trajectory_id, seq, (text) =>
        withByte(text, offset % Buffer.byteLength(text), 1),
      );
      spoilt.push({ trajectory_id: row.trajectory_id, seq });
    }
  }
  db.exec('COMMIT');
  db.close();
  const store = await openStore(`sqlite:${changed}`);
  const ranges = [
    { trajectory_id: 'a', entries: LENGTHS[0]!, position: 0 },
    { trajectory_id: 'b', entries: LENGTHS[1]!, position: LENGTHS[0]! },
    { trajectory_id: 'c', entries: LENGTHS[2]!, position: LENGTHS[0]! + LENGTHS[1]! },
  ];
  const ahead = (store as LedgerStore).readInParallel?.(ranges) as ParallelReader;
  // Towards the reader, window by window. The page after the first entry comes last, and that at
  // 20,000 in the second.
  const last = new Map<string, VerifiedRun>();
  for (const [name, seq] of [
    ['a', 1],
    ['c', 20_001 - LENGTHS[0]! - LENGTHS[1]!],
  ] as const) {
    let found = ahead.at(name, seq);
    for (; typeof found === 'number'; found = ahead.at(name, seq))
      await new Promise((resolve) => setTimeout(resolve, 5));
    last.set(`${name} ${seq}`, found);
  }
  const left: typeof spoilt = [];
  for (const { trajectory_id, entries } of ranges) {
    for (let seq = 0; seq < entries; ) {
      const found = last.get(`${trajectory_id} ${seq}`) ?? ahead.at(trajectory_id, seq);
      const count = typeof found === 'number' ? Math.min(found, entries - seq) : found.count;
      if (typeof found === 'number') {
        for (let i = 0; i < count; i++) left.push({ trajectory_id, seq: seq + i });
      }
      seq += count;
    }
  }
  await ahead.close();
  // The first entry of a trajectory is in no run.
  const firsts = ranges.map(({ trajectory_id }) => ({ trajectory_id, seq: 0 }));
  const wanted = [
    ...spoilt,
    ...firsts.filter(
      ({ trajectory_id: id }) => !spoilt.some((x) => x.trajectory_id === id && x.seq === 0),
    ),
  ];
  const name = ({ trajectory_id, seq }: (typeof spoilt)[0]): string => `${trajectory_id} ${seq}`;
  expect(left.map(name).sort()).toEqual(wanted.map(name).sort());
  await store.close();
});

test('an entry appended during verification is not taken as checked', async () => {
  copyFileSync(whole, changed);
  const db = new DatabaseSync(changed);
  const store = await openStore(`sqlite:${changed}`);
  let done = false;
  const reports = await verifyStore(store, {
    onProgress: (at) => {
      // Late enough that the other thread has checked the rest.
      if (done || at < LENGTHS[0]!) return;
      done = true;
      const { key } = db.prepare('SELECT key FROM trajectory WHERE name = ?').get('c') as {
        key: number;
      };
      const { id } = c.head;
      const forged = c.row('rejection', rejectionMembers({ at: second(40_000) }));
      db.prepare(
        'INSERT INTO entry (trajectory, seq, id, parent, kind, payload) VALUES (?, ?, ?, ?, ?, ?)',
      ).run(
        key,
        LENGTHS[2]!,
        Buffer.from(forged.id, 'hex'),
        Buffer.from(id, 'hex'),
        'rejection',
        forged.payload.replace('it may not be', 'it may well be'),
      );
    },
  });
  db.close();
  await store.close();
  expect(done).toBe(true);
  expect(reports[2]).toMatchObject({ valid: false, fault: { seq: LENGTHS[2]!, code: 'tampered' } });
});

test.each([2_400_000_000, 9_000_000_000_000])(
  'a seq that was made %d ends soon, on one thread and on two',
  async (seq) => {
    const reports = await verifiedAfter((db) => {
      db.prepare(`UPDATE entry SET seq = ? ${PLACE}`).run(seq, 'c', 2_499);
    });
    expect(reports[2]).toMatchObject({
      valid: false,
      entries: 2_499,
      fault: { seq, code: 'column_mismatch' },
    });
  },
);

test('where the file is gone for the other thread, this one verifies alone', async () => {
  copyFileSync(whole, changed);
  const store = await openStore(`sqlite:${changed}`);
  renameSync(changed, `${changed}.moved`);
  const reports = await verifyStore(store);
  expect(reports.map(({ valid }) => valid)).toEqual([true, true, true]);
  await store.close();
});

describe('which trajectories', () => {
  const { rows, blobs } = everyKind(keysOf(1));

  async function small(): Promise<MemoryStore> {
    const store = new MemoryStore();
    for (const row of rows) await store.commit({ entries: [row], blobs });
    return store;
  }

  test('all, in order of creation, with their signed and open counts', async () => {
    const reports = await verifyStore(await small());
    expect(reports).toMatchObject([
      { trajectory_id: 'first', valid: true, entries: 12, signed: 4, open: 0 },
      { trajectory_id: 'second', valid: true, entries: 7, signed: 7, open: 0 },
      { trajectory_id: 'third', valid: true, entries: 7, signed: 7, open: 2 },
      { trajectory_id: 'child', valid: true, entries: 3, signed: 0, open: 0 },
    ]);
  });

  test('the requested ones, in that order; a missing one is not valid', async () => {
    const reports = await verifyStore(await small(), { trajectoryIds: ['third', 'none', 'first'] });
    expect(reports).toMatchObject([
      { trajectory_id: 'third', valid: true },
      { trajectory_id: 'none', valid: false, entries: 0, fault: { code: 'not_found' } },
      { trajectory_id: 'first', valid: true },
    ]);
  });

  test('none', async () => {
    expect(await verifyStore(new MemoryStore())).toEqual([]);
  });

  test('a store that can’t be read is an error, not a verdict', async () => {
    const store = await small();
    await store.close();
    await expect(verifyStore(store)).rejects.toMatchObject({ code: 'store_closed' });
  });
});
