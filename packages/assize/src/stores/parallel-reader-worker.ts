import { workerData } from 'node:worker_threads';
import {
  checkRow,
  type Entry,
  type EntryRow,
  LedgerFault,
  PAGE,
  type RowRange,
  runsOf,
} from '#ledger';
import { openStore } from './open.ts';
import { type CheckedPage, type ParallelReadTask, READER_DONE } from './parallel-reader.ts';

/**
 * The number of entries between the reader and the furthest checked page, at most doubled. Checked
 * pages wait in the reader's memory.
 */
const WINDOW = 20_000;

interface Page {
  readonly trajectoryId: string;
  readonly from: number;
  readonly limit: number;
  readonly position: number;
}

const { store: name, ranges, reached, port } = workerData as ParallelReadTask;
const store = await openStore(name.url, {
  mode: 'readonly',
  checkpoint: false,
  archive: name.archive,
  ...(name.rootKeys && { rootKeys: name.rootKeys }),
});
try {
  for (const [start, pages] of windowsOf(ranges)) {
    if (!isAwaited(start)) break;
    // Reads towards the reader. The reader starts at the front. The next window starts when they
    // meet.
    for (const page of pages.reverse()) {
      if (page.position < Atomics.load(reached, 0)) break;
      const { trajectoryId, from, limit } = page;
      const rows = await store.entries(trajectoryId, { from, limit });
      port.postMessage({ trajectoryId, from, runs: runsOf(sound(rows)) } satisfies CheckedPage);
    }
  }
} finally {
  await store.close();
  port.close();
}

/**
 * Yields pages in order, one window at a time. Only one window of pages exists at a time, because a
 * manually changed store can claim any number of entries.
 */
function* windowsOf(all: readonly RowRange[]): Generator<readonly [start: number, pages: Page[]]> {
  let start = 0;
  let pages: Page[] = [];
  for (const { trajectory_id, entries, position } of all) {
    for (let from = 1; from < entries; from += PAGE) {
      if (position + from >= start + WINDOW) {
        if (pages.length > 0) yield [start, pages];
        start = Math.floor((position + from) / WINDOW) * WINDOW;
        pages = [];
      }
      const limit = Math.min(PAGE, entries - from);
      pages.push({ trajectoryId: trajectory_id, from, limit, position: position + from });
    }
  }
  if (pages.length > 0) yield [start, pages];
}

/** False if the reader has ended. */
function isAwaited(start: number): boolean {
  for (;;) {
    const at = Atomics.load(reached, 0);
    if (at >= READER_DONE) return false;
    if (at >= start - WINDOW) return true;
    Atomics.wait(reached, 0, at);
  }
}

/** The rows that are valid on their own. The reader reports the invalid rows itself. */
function sound(rows: readonly EntryRow[]): Entry[] {
  return rows.flatMap((row) => {
    try {
      return [checkRow(row)];
    } catch (error) {
      if (error instanceof LedgerFault) return [];
      throw error;
    }
  });
}
