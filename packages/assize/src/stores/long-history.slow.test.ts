/** The work of a store for a change of a partition does not grow with the number of open rows. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ALICE, changeOf } from '@assize/testing/internal/fact-rows.ts';
import { batchOf, entryAfter } from '@assize/testing/internal/store-rows.ts';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
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
  /** The number of insertions into maps in the meantime, including each item of a copied map. */
  const puts = async (from: number): Promise<number> => {
    kept.mockClear();
    for (let version = from + 1; version <= from + CHANGES; version++) {
      const said = { fact_id: `f${version}`, cardinality: 'multi-valued' as const };
      const answer = await store.commit({
        ...batchOf([]),
        facts: [changeOf(ALICE, version, version, [said])],
      });
      expect(answer.status).toBe('committed');
    }
    return kept.mock.calls.length;
  };
  const first = await puts(0);
  for (const from of [1, 2]) await puts(from * CHANGES);
  // A copy of the open rows would multiply the number by seven. Other code in this process also
  // inserts into maps now and then.
  expect(await puts(3 * CHANGES)).toBeLessThan(4 * first);
  expect((await store.partition(ALICE))?.open).toHaveLength(4 * CHANGES);
});
