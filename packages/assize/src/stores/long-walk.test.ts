/** A walk over many entries leaves the process time for everything else. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { batchOf, chainOf } from '@assize/testing/internal/store-rows.ts';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { hashText } from '#canon';
import { openStore } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-walk-'));
afterAll(() => rmSync(folder, { recursive: true }));

const ENTRIES = 30_000;
const PAGE = 1_000;

test.each([
  ['memory', 'memory:'],
  ['sqlite', `sqlite:${join(folder, 'walk.db')}`],
])('other work goes on during a walk over the entries of %s', async (_, url) => {
  const store = await openStore(url);
  onTestFinished(() => store.close());
  await store.commit(batchOf(chainOf('t', ENTRIES)));
  const pages = Array.from({ length: ENTRIES / PAGE }, (_, n) => n * PAGE);
  const walk = async (): Promise<void> => {
    for (const from of pages)
      expect(await store.entries('t', { from, limit: PAGE })).toHaveLength(PAGE);
  };
  expect(await turnsDuring(walk)).toBeGreaterThan(pages.length - 2);
  // In memory one look at all entries is short.
  if (url !== 'memory:')
    expect(await turnsDuring(() => store.trajectoriesToReview!())).toBeGreaterThan(1);
});

test('other work goes on during a walk over large values', async () => {
  const store = await openStore(`sqlite:${join(folder, 'values.db')}`);
  onTestFinished(() => store.close());
  const blobs = Array.from({ length: 40 }, (_, n) => {
    const text = JSON.stringify(`${n}`.padEnd(65_536, 'x'));
    return { hash: hashText(text), text };
  });
  await store.commit({ ...batchOf(chainOf('t', 1)), blobs });
  const walk = async (): Promise<void> => {
    for (const { hash, text } of blobs) expect(await store.blob(hash)).toBe(text);
  };
  // Four values make one turn.
  expect(await turnsDuring(walk)).toBeGreaterThanOrEqual(9);
});

/** The turns of the event loop that other work gets meanwhile. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isWorking = true;
  const other = (async () => {
    for (; isWorking; turns++) await nextTurn();
  })();
  await work();
  isWorking = false;
  await other;
  return turns;
}
