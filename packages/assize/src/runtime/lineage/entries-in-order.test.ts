import { expect, test } from 'vitest';
import type { EntryRow, LogStore } from '#ledger';
import { entriesInOrder } from './entries-in-order.ts';

const rows = Array.from({ length: 7_300 }, (_, n) => ({ id: `${n}` }) as unknown as EntryRow);

/** A log whose size another process advances by `step` entries before each read of it. */
function logOf(size: number, step = 0): LogStore {
  let logged = size;
  return {
    logSize: async () => {
      logged = Math.min(rows.length, logged + step);
      return logged;
    },
    logged: async (from: number, limit: number) => rows.slice(from, Math.min(logged, from + limit)),
    unlogged: async (limit: number) => rows.slice(logged, logged + limit),
  } as unknown as LogStore;
}

test.each([
  ['all have positions', logOf(7_300), 0],
  ['none has a position', logOf(0), 0],
  ['some have positions', logOf(3_500), 0],
  ['the read begins among those without a position', logOf(3_500), 4_200],
  ['other processes log entries meanwhile', logOf(0, 301), 0],
])('every entry comes once and in order where %s', async (_, log, from) => {
  const found: EntryRow[] = [];
  for await (const page of entriesInOrder(log, from)) {
    found.push(...page);
    if (found.length > rows.length) break;
  }
  expect(found).toEqual(rows.slice(from));
});
