/** What a store does to take in a change of a partition does not grow with all that is open there. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { ALICE, changeOf } from '../testing/fact-rows.ts';
import { batchOf, entryAfter } from '../testing/store-rows.ts';
import { openStore } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-long-'));
afterAll(() => rmSync(folder, { recursive: true }));

const CHANGES = 150;

test.each([
  ['memory', 'memory:'],
  ['sqlite', `sqlite:${join(folder, 'long.db')}`],
])('on %s', async (_, url) => {
  const store = await openStore(url);
  onTestFinished(() => store.close());
  await store.commit(batchOf(entryAfter(undefined, 't')));
  const kept = vi.spyOn(Map.prototype, 'set');
  onTestFinished(() => kept.mockRestore());
  /** How often something was put into a map meanwhile: also each member of one that is copied. */
  const puts = async (from: number): Promise<number> => {
    kept.mockClear();
    for (let version = from + 1; version <= from + CHANGES; version++) {
      const said = { fact_id: `f${version}`, cardinality: 'multi-valued' as const };
      const answer = await store.commit({ ...batchOf([]), facts: [changeOf(ALICE, version, version, [said])] });
      expect(answer.status).toBe('committed');
    }
    return kept.mock.calls.length;
  };
  const first = await puts(0);
  for (const from of [1, 2]) await puts(from * CHANGES);
  // A copy of what is open makes it seven times as many. What else runs in this process puts something into maps now and then, too.
  expect(await puts(3 * CHANGES)).toBeLessThan(4 * first);
  expect((await store.partition(ALICE))?.open).toHaveLength(4 * CHANGES);
});
