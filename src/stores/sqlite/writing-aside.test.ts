import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, vi } from 'vitest';
import { effectStoreSuite } from '../../testing/effect-store-suite.ts';
import { factStoreSuite } from '../../testing/fact-store-suite.ts';
import { ledgerStoreSuite } from '../../testing/ledger-store-suite.ts';
import { logStoreSuite } from '../../testing/log-store-suite.ts';
import { oracleStoreSuite } from '../../testing/oracle-store-suite.ts';
import { snapshotStoreSuite } from '../../testing/snapshot-store-suite.ts';
import { openSqlite, type SqliteStore } from './index.ts';

// All that a store promises, with what is written by another thread. Real ones are in `writing-thread.test.ts`.
vi.mock('node:worker_threads', async (original) => ({
  ...(await original<typeof import('node:worker_threads')>()),
  Worker: (await import('../../../tests/support/played-thread.ts')).PlayedThread,
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
