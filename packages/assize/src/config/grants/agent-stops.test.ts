import { expect, test } from 'vitest';
import type { EntryRow } from '#ledger';
import { AgentStops } from './agent-stops.ts';

/** A store without entries. It counts the reads and ends each on demand. */
function countedStore() {
  const ends: (() => void)[] = [];
  const entries = () => new Promise<EntryRow[]>((resolve) => ends.push(() => resolve([])));
  return { ends, store: { entries } };
}

test('requests share a read while it counts', async () => {
  const { ends, store } = countedStore();
  const stops = new AgentStops(store, 60_000);
  const both = Promise.all([stops.refresh(), stops.refresh()]);
  ends[0]!();
  await both;
  await stops.refresh();
  expect(ends).toHaveLength(1);
  const now = stops.refresh('now');
  await Promise.resolve();
  ends[1]!();
  await now;
});

test('an expired read does not count, even if it has not ended', async () => {
  const { ends, store } = countedStore();
  const stops = new AgentStops(store, 60_000);
  const first = stops.refresh();
  stops.expire();
  ends[0]!();
  await first;
  const second = stops.refresh();
  expect(ends).toHaveLength(2);
  ends[1]!();
  await second;
  await stops.refresh();
  expect(ends).toHaveLength(2);
});
