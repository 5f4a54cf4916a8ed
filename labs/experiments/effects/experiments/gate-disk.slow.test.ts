import { type FileHandle, open } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { differing, type Table } from '../../tables/index.ts';
import type { Running } from '../experiment.ts';
import { BOTH } from '../schedule.ts';
import { openScratch } from '../scratch.ts';
import { tablesUnder } from './gate.ts';

// A disk with slow or failing fsync calls: each file of `gate` is flushed several times.

const SCALE = 0.02;
const RUNS = Math.round(100 * SCALE) * 3;

/** The shared class of all open files, whose `sync` the runtime calls. */
let handles: FileHandle;
let sync: FileHandle['sync'];

beforeEach(async () => {
  await using scratch = await openScratch();
  const file = await open(`${scratch.path}/one`, 'w');
  handles = Object.getPrototypeOf(file) as FileHandle;
  await file.close();
  sync = handles.sync;
});
afterEach(() => {
  handles.sync = sync;
});

async function tables(): Promise<readonly Table[]> {
  const running: Running = {
    ...{ seed: 1, scale: SCALE, data: './nowhere' },
    ...{ signal: new AbortController().signal, progress: () => {} },
  };
  return tablesUnder(running, BOTH);
}

test('few files are written concurrently, so no call waits for many others', async () => {
  let [now, most] = [0, 0];
  handles.sync = async function (this: FileHandle) {
    most = Math.max(most, ++now);
    await new Promise((resolve) => setTimeout(resolve, 5));
    now--;
    return sync.call(this);
  };
  const made = await tables();
  expect(made.reduce((sum, table) => sum + differing(table), 0)).toBe(0);
  expect(made.filter(({ title }) => title.includes('without a fault'))).toEqual([]);
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(4);
});

test('runs on a disk that fails are a row of each mode, beside all tables', async () => {
  handles.sync = async () => {
    throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' });
  };
  const made = await tables();
  const failures = made.filter(({ title }) => title.startsWith('runs that failed without a fault'));
  expect(failures).toHaveLength(1);
  for (const { rows } of failures) {
    expect(rows.map(({ keys }) => keys)).toEqual([
      ['Tx-Full'],
      ['CR'],
      ['No-Frontier'],
      ['No-Tx'],
      ['Tx-NoFrontier+Retry'],
    ]);
    // A run whose file met a fault of its own is not a failure of the disk.
    for (const { cells } of rows) expect(cells[0]!.measured).toBeGreaterThanOrEqual(RUNS);
    for (const { cells } of rows) expect(cells[1]!.measured).toMatch(/failed without a fault/);
  }
  expect(failures.reduce((sum, table) => sum + differing(table), 0)).toBe(5);
  expect(made).toHaveLength(5);
});
