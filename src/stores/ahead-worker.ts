import { workerData } from 'node:worker_threads';
import { checkRow, type Entry, type EntryRow, LedgerFault, PAGE, type RowRange, runsOf } from '#ledger';
import type { AheadTask, CheckedPage } from './ahead.ts';
import { openStore } from './open.ts';

/**
 * Entries between the reader and the furthest page that is checked, at most twice as many: checked pages wait in the
 * reader's memory.
 */
const WINDOW = 100_000;

interface Page {
  readonly trajectoryId: string;
  readonly from: number;
  readonly limit: number;
  readonly position: number;
}

const { url, ranges, reached, port } = workerData as AheadTask;
const store = await openStore(url, { mode: 'readonly' });
try {
  for (const [start, pages] of windowsOf(ranges)) {
    waitUntilNear(start);
    // Towards the reader, who comes from the front; where the two meet the next window begins.
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

/** Pages in order, by the window that they begin in. */
function windowsOf(all: readonly RowRange[]): Map<number, Page[]> {
  const windows = new Map<number, Page[]>();
  for (const { trajectory_id, entries, position } of all) {
    for (let from = 1; from < entries; from += PAGE) {
      const page = {
        trajectoryId: trajectory_id,
        from,
        limit: Math.min(PAGE, entries - from),
        position: position + from,
      };
      const start = Math.floor(page.position / WINDOW) * WINDOW;
      const pages = windows.get(start);
      if (pages === undefined) windows.set(start, [page]);
      else pages.push(page);
    }
  }
  return windows;
}

function waitUntilNear(start: number): void {
  for (let at = Atomics.load(reached, 0); at < start - WINDOW; at = Atomics.load(reached, 0)) {
    Atomics.wait(reached, 0, at);
  }
}

/** The rows that are sound by themselves; the reader finds the others again. */
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
