/** A walk over many entries leaves the process time for everything else. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { batchOf, chainOf } from '../testing/store-rows.ts';
import { openStore } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-walk-'));
afterAll(() => rmSync(folder, { recursive: true }));

const ENTRIES = 1_000;
const PAGE = 250;

test.each([
  ['memory', 'memory:'],
  ['sqlite', `sqlite:${join(folder, 'walk.db')}`],
])('other work goes on during a walk over the entries of %s', async (_, url) => {
  const store = await openStore(url);
  onTestFinished(() => store.close());
  await store.commit(batchOf(chainOf('t', ENTRIES)));
  let turns = 0;
  let isWalking = true;
  const other = (async () => {
    for (; isWalking; turns++) await nextTurn();
  })();
  for (let from = 0; from < ENTRIES; from += PAGE)
    expect(await store.entries('t', { from, limit: PAGE })).toHaveLength(PAGE);
  isWalking = false;
  await other;
  expect(turns).toBeGreaterThan(ENTRIES / PAGE - 2);
});
