import { parentPort, workerData } from 'node:worker_threads';
import { checkRow, type Fault, LedgerFault, type RowRange } from '#ledger';
import type { CheckAheadTask } from './check-ahead.ts';
import { openSqlite } from './open.ts';

/** Rows read at a time: as many as replay reads. */
const PAGE = 2_000;

const { path, ranges, positions } = workerData as CheckAheadTask;
const faults: Fault[] = [];
const store = await openSqlite({ path, mode: 'readonly' });
try {
  for (const range of [...ranges].reverse()) {
    if (!(await checkRange(range))) break;
  }
} finally {
  await store.close();
}
parentPort?.postMessage(faults);

/** From the last page to the first; false when the reader was met. */
async function checkRange(range: RowRange): Promise<boolean> {
  for (let end = range.entries; end > 0; ) {
    const from = Math.max(0, Math.floor((end - 1) / PAGE) * PAGE);
    if (range.position + from < Atomics.load(positions, 0)) return false;
    for (const row of await store.entries(range.trajectory_id, { from, limit: end - from })) {
      try {
        checkRow(row);
      } catch (error) {
        if (!(error instanceof LedgerFault)) throw error;
        faults.push(error.fault);
      }
    }
    Atomics.store(positions, 1, range.position + from);
    end = from;
  }
  return true;
}
