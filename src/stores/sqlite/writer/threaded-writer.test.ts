import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import type { EntryRow } from '#ledger';
import { effectStoreSuite } from '../../../testing/effect-store-suite.ts';
import { ALICE, changeOf } from '../../../testing/fact-rows.ts';
import { factStoreSuite } from '../../../testing/fact-store-suite.ts';
import { ledgerStoreSuite } from '../../../testing/ledger-store-suite.ts';
import { logStoreSuite } from '../../../testing/log-store-suite.ts';
import { oracleStoreSuite } from '../../../testing/oracle-store-suite.ts';
import { snapshotStoreSuite } from '../../../testing/snapshot-store-suite.ts';
import { batchOf, chainOf } from '../../../testing/store-rows.ts';
import { openSqlite, type SqliteStore } from '../index.ts';

// All that a store promises, with what is written by another thread. Real ones are in `writing-thread.test.ts`.
vi.mock('node:worker_threads', async (original) => ({
  ...(await original<typeof import('node:worker_threads')>()),
  Worker: (await import('../../../../tests/support/played-thread.ts')).PlayedThread,
}));

const folder = mkdtempSync(join(tmpdir(), 'assize-aside-'));
afterAll(() => rmSync(folder, { recursive: true }));

const name = 'sqlite, written in a thread of its own';
const open = (place: string): Promise<SqliteStore> =>
  openSqlite({ path: join(folder, `${place}.db`), writer: 'thread' });

ledgerStoreSuite({ name, open });
describe('effects', () => effectStoreSuite({ name, open: (place) => open(`effects-${place}`) }));
describe('facts', () => factStoreSuite({ name, open: (place) => open(`facts-${place}`) }));
describe('log', () => logStoreSuite({ name, open: (place) => open(`log-${place}`) }));
describe('oracle', () => oracleStoreSuite({ name, open: (place) => open(`oracle-${place}`) }));
describe('snapshots', () => snapshotStoreSuite({ name, open: (place) => open(`snapshots-${place}`) }));

test.each(['inline', 'thread'] as const)(
  'a search beside which the store is closed ends, and so does closing: %s',
  async (writer) => {
    for (const turns of [0, 1, 3]) {
      const store = await openSqlite({ path: join(folder, `closing-${writer}-${turns}.db`), writer });
      const facts = Array.from({ length: 3_000 }, (_, n) =>
        changeOf({ ...ALICE, subject: `patient ${n}` }, 1, 10, [{ fact_id: `claim ${n}` }]),
      );
      // One batch: indexing begins behind it, and has more than one part to do.
      expect(await store.commit({ ...batchOf([]), facts })).toEqual({ status: 'committed' });
      const search = store.factsByText({ space: ALICE.space, text: 'patient', limit: 1 }).then(
        () => 'found',
        ({ code }) => code,
      );
      for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
      await store.close();
      expect(['found', 'store_closed']).toContain(await search);
    }
  },
);

test('rows that are no plain objects are written as they are read', async () => {
  const store = await openSqlite({ path: join(folder, 'getters.db'), writer: 'thread' });
  const [root, next] = chainOf('t', 2) as [EntryRow, EntryRow];
  class Blob {
    get hash(): string {
      return 'a'.repeat(64);
    }
    get text(): string {
      return 'text';
    }
  }
  expect(await store.commit({ ...batchOf(root), blobs: [new Blob()] })).toEqual({ status: 'committed' });
  expect(await store.blob('a'.repeat(64))).toBe('text');
  class Odd extends Blob {
    #reads = 0;
    override get text(): string {
      this.#reads++;
      if (this.#reads === 1) return 'text';
      throw new Error('not twice');
    }
  }
  class Other extends Blob {
    #reads = 0;
    override get text(): string {
      return this.#reads++ === 0 ? 'text' : (5 as never);
    }
  }
  for (const odd of [new Odd(), new Other()])
    await expect(store.commit({ ...batchOf([]), blobs: [odd] })).rejects.toMatchObject({ code: 'store_invalid_input' });
  expect(await store.commit(batchOf(next))).toEqual({ status: 'committed' });
  await store.close();
});
