import { expect } from 'vitest';
import type { EntryRow, LedgerStore } from '#ledger';
import {
  checkHistory,
  type HistoryReport,
  type Operation,
} from '../../packages/testing/src/history.ts';
import { blobOf } from '../../packages/testing/src/store-rows.ts';
import type { Sent } from './writer-process.ts';

/**
 * All entries of the store, each trajectory in order of seq. If the number of known entries is
 * given, the entries from there on.
 */
export async function entriesOf(
  store: LedgerStore,
  known: ReadonlyMap<string, number> = new Map(),
): Promise<EntryRow[]> {
  const rows: EntryRow[] = [];
  for (const { trajectory_id, entries, head } of await store.trajectories()) {
    const from = known.get(trajectory_id) ?? 0;
    // Reads the last known entry again, so that the entries before it cannot have changed unseen.
    const page = await store.entries(trajectory_id, {
      from: Math.max(0, from - 1),
      limit: entries + 1,
    });
    expect({ trajectory_id, head: page.at(-1)?.id, seq: page.at(-1)?.seq }).toEqual({
      trajectory_id,
      head,
      seq: entries - 1,
    });
    rows.push(...page);
  }
  return rows;
}

/** Every batch that is there is there with its blob, and none of those that are not. */
export async function expectBlobs(
  store: LedgerStore,
  sent: readonly Sent[],
  isThere: (id: string) => boolean,
): Promise<void> {
  for (const { ids, hasBlob } of sent) {
    if (!hasBlob) continue;
    const blob = blobOf(`${ids[0]}${'.'.repeat(6_000)}`);
    const text = await store.blob(blob.hash);
    if (text !== (isThere(ids[0]!) ? blob.text : undefined)) {
      throw new Error(
        `the blob of ${ids[0]} is ${text === undefined ? 'missing' : 'there, or not as it was given'}`,
      );
    }
  }
}

/** Throws the first violations of a history; otherwise what was counted. */
export function expectSound(
  history: readonly Operation[],
  entries: readonly EntryRow[],
): HistoryReport {
  const report = checkHistory(history, entries);
  expect(report.violations.slice(0, 5)).toEqual([]);
  return report;
}
