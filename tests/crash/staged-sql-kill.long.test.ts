import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '#stores';
import { EFFECTS_TABLE } from '../../packages/tools/src/sql/index.ts';
import { bundled } from '../support/bundled.ts';
import { allEntries } from '../support/ledger/desk.ts';
import { runtimeOver } from '../support/ledger/runtime.ts';
import { withPostgres } from '../support/postgres/index.ts';
import { expectEffectLogMatches } from '../support/tools/check-effect-log.ts';
import { tally } from '../support/tools/effect-sink.ts';
import { amountOf, BANKER, KEYS, orderName, type ProcessLine } from './staged-sql-orders.ts';

const PROGRAM = await bundled(join(import.meta.dirname, 'staged-sql-process.ts'));
/**
 * Lives end while a body runs, with keys in flight after the ruling, at a commit, or after a
 * commit. The first commit belongs to the previous life. `ASSIZE_CRASH_EFFECTS=100` adds each
 * moment of each statement.
 */
const ENDS = ['UPDATE account:2:1', 'UPDATE assize_effects:3:1', 'COMMIT:2:1', 'COMMIT:1:2'];
const MORE = Number(process.env['ASSIZE_CRASH_EFFECTS'] ?? '0');
/** Those of two orders. */
const STATEMENTS = 48;
for (let n = 0; n < MORE; n++)
  ENDS.push(`:${1 + (n % STATEMENTS)}:${Math.floor(n / STATEMENTS) % 3}`);
const ORDERS = 2 * ENDS.length;

type Rows = readonly Record<string, unknown>[];

/** The bank, as seen from outside the process. */
interface Bank {
  readonly url: string;
  query(text: string): Promise<Rows>;
  /** Whether anything of a process that has ended is in the way of others. */
  isFree(): Promise<boolean>;
}

const SETUP = [
  'CREATE TABLE account (name TEXT PRIMARY KEY, cents BIGINT NOT NULL)',
  "INSERT INTO account VALUES ('a', 0), ('b', 0)",
  'CREATE TABLE log (name TEXT NOT NULL, what TEXT NOT NULL)',
  EFFECTS_TABLE,
];
const LOOK = `SELECT name, cents FROM account UNION ALL SELECT name, 1 AS cents FROM log
  UNION ALL SELECT 'key' AS name, count(*) AS cents FROM assize_effects WHERE undone = 0`;

/** One life of the process. It ends itself at a step of its connections, or lives. */
async function life(args: readonly string[]): Promise<{ told: ProcessLine[]; wasKilled: boolean }> {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const told: ProcessLine[] = [];
  const exited = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout }))
    told.push(JSON.parse(line) as ProcessLine);
  const [code, signal] = await exited;
  expect([0, null]).toContain(code);
  return { told, wasKilled: signal === 'SIGKILL' };
}

/** The complete orders. Nothing of any other one is there. */
async function done({ query }: Bank): Promise<string[]> {
  const rows = await query(LOOK);
  const sum = (name: string): number =>
    rows.reduce((all, row) => all + (row['name'] === name ? Number(row['cents']) : 0), 0);
  const orders = Array.from({ length: ORDERS }, (_, n) => n).filter((n) => sum(orderName(n)) > 0);
  const moved = orders.reduce((all, n) => all + amountOf(n), 0);
  expect({ a: sum('a'), b: sum('b'), keys: sum('key') }).toEqual({
    a: 0 - moved,
    b: moved,
    keys: orders.length * KEYS,
  });
  for (const n of orders) expect([n, sum(orderName(n))]).toEqual([n, 2]);
  return orders.map(orderName);
}

/** Orders that the ledger has as committed, each as often as it does. */
async function committedIn(url: string): Promise<string[]> {
  const store = await openStore(url);
  const commits = (await allEntries(store, 't')).filter(
    ({ kind, payload }) => kind === 'commit' && !payload.includes('"name":"assize.settle"'),
  );
  await store.close();
  return commits.map(({ payload }) => JSON.parse(payload).action.args as string).sort();
}

async function killAtEachStep(url: string, bank: Bank): Promise<void> {
  for (const text of SETUP) await bank.query(text);
  const begun = await openStore(url);
  await runtimeOver(begun, [tally]).create(tally, { trajectoryId: 't' });
  await begun.close();
  const ruled = new Map<string, string>();
  const note = (told: readonly ProcessLine[]): void => {
    for (const each of told) {
      expect(each).not.toHaveProperty('odd');
      if ('left' in each) expect(each.left).toEqual([]);
      if ('order' in each) ruled.set(each.order, each.ruling);
    }
  };
  const owed: number[] = [];
  for (const [n, end] of ENDS.entries()) {
    const { told, wasKilled } = await life([url, bank.url, `${2 * n}`, `${2 * n + 2}`, end]);
    expect([end, wasKilled]).toEqual([end, n < ENDS.length - MORE || wasKilled]);
    note(told);
    // Before any recovery, too: work without a ruling does not exist.
    const there = await done(bank);
    const committed = await committedIn(url);
    expect(committed).toEqual(expect.arrayContaining(there));
    owed.push(committed.length - there.length);
  }
  // Some ended with nothing left to be done, and some with a commit that was owed.
  expect([owed[0], Math.max(...owed)]).toEqual([0, 1]);
  const last = await life([url, bank.url, '0', `${ORDERS}`]);
  expect(last.wasKilled).toBe(false);
  note(last.told);
  expect([...ruled.values()].every((ruling) => ruling === 'committed')).toBe(true);

  const orders = await done(bank);
  expect(orders).toHaveLength(ORDERS);
  expect([...ruled.keys()].sort()).toEqual(orders.toSorted());
  expect(await committedIn(url)).toEqual(orders.toSorted());
  while (!(await bank.isFree()));
  const store = await openStore(url);
  const tenure = await store.leaseEffects();
  await tenure.release();
  await expectEffectLogMatches(store, 't', [], tenure.lastEpoch);
  await store.close();
}

test('sqlite: staged work of killed processes is whole once or absent', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-held-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'bank.db');
  const outside = new DatabaseSync(file, { timeout: 0 });
  onTestFinished(() => outside.close());
  outside.exec('PRAGMA journal_mode = WAL');
  await killAtEachStep(`sqlite:${join(folder, 'store.db')}`, {
    url: `sqlite:${file}`,
    query: async (text) => outside.prepare(text).all(),
    isFree: async () => {
      outside.exec('BEGIN IMMEDIATE');
      outside.exec('ROLLBACK');
      return true;
    },
  });
});

withPostgres('postgres', (server) => {
  test('staged work of killed processes is whole once or absent', async () => {
    const url = server.url();
    const schema = server.schemaOf(url);
    await server.query(`CREATE SCHEMA "${schema}"`);
    const base = new URL(url);
    base.searchParams.delete('schema');
    const outside = new Client({
      connectionString: base.href,
      options: `-c search_path=${schema}`,
    });
    await outside.connect();
    onTestFinished(() => outside.end());
    const query = async (text: string): Promise<Rows> => (await outside.query(text)).rows;
    await killAtEachStep(server.url(), {
      url,
      query,
      isFree: async () => {
        const sessions = `SELECT FROM pg_stat_activity WHERE application_name = '${BANKER}'`;
        const locks = `SELECT FROM pg_locks JOIN pg_class ON pg_class.oid = relation
          WHERE relnamespace = '${schema}'::regnamespace AND pid <> pg_backend_pid()`;
        return (await query(sessions)).length + (await query(locks)).length === 0;
      },
    });
  });
});
