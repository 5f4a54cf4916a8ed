import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { readTransaction } from '#effects';
import { openStore, type Store } from '#stores';
import { readSalted } from '../../packages/assize/src/runtime/transactions/settle/quarantine.ts';
import { seededNumbers } from '../../packages/testing/src/faults.ts';
import { EFFECTS_TABLE } from '../../packages/tools/src/sql/index.ts';
import { bundled } from '../support/bundled.ts';
import { cases } from '../support/cases.ts';
import { allEntries } from '../support/ledger/desk.ts';
import { runtimeOver } from '../support/ledger/runtime.ts';
import { withPostgres } from '../support/postgres/index.ts';
import { expectEffectLogMatches } from '../support/tools/check-effect-log.ts';
import { orders } from '../support/tools/orders.ts';
import {
  ACCOUNTS,
  BEGINNING,
  type ExpectedRows,
  type Op,
  orderOf,
  type ProcessLine,
  SHARED,
  type UnresolvedTransaction,
} from './sql-orders.ts';

// Random bodies on a real server, with statements staged in its open transactions. The processes
// are killed at any moment, also during recovery. After each complete recovery the test compares
// the server's tables with the commits of the ledger.

/** `ASSIZE_CRASH_EFFECTS=500` for a long night. */
const ROUNDS = Number(process.env['ASSIZE_CRASH_EFFECTS'] ?? cases(14));
const SEED = Number(process.env['ASSIZE_SEED'] ?? '20261123');
const ORDERS_A_ROUND = 30;
/** Of a process: to come to its work, and to work. */
const START_MS_MAX = 500;
const WORK_MS_MAX = 600;
const COMMITS_MAX = 12;

const SETUP = [
  `CREATE TABLE account (name TEXT PRIMARY KEY, cents BIGINT NOT NULL CHECK (cents >= 0))`,
  `INSERT INTO account VALUES ${ACCOUNTS.map((name) => `('${name}', ${BEGINNING})`).join(', ')}`,
  `CREATE TABLE shared (name TEXT PRIMARY KEY, n BIGINT NOT NULL)`,
  `INSERT INTO shared VALUES ${SHARED.map((name) => `('${name}', 0)`).join(', ')}`,
  `CREATE TABLE done (n SERIAL PRIMARY KEY, place TEXT NOT NULL, name TEXT NOT NULL,
    row TEXT NOT NULL CHECK (row NOT LIKE 'bad%'), did TEXT NOT NULL)`,
  EFFECTS_TABLE,
];

/** The prefix of rows that are compensated on abort. No other row exists without a commit. */
const AT_ONCE = 'put';

/** The errors that bodies throw or receive. An unknown outcome is not among them. */
const THROWN = ['deadline', 'not_awaited', 'resource_in_doubt', 'stale', 'stop', 'tool_failed'];

/**
 * The end of a process: a time after its start or the start of its work, a commit in the database,
 * or its regular end.
 */
interface End {
  readonly startMs?: number;
  readonly workMs?: number;
  readonly commit?: string;
}

type Query = (text: string) => Promise<Record<string, any>[]>;

/**
 * The orders that the ledger has committed, and those among them that failed and were compensated.
 */
interface Ruled {
  readonly committed: ReadonlyMap<string, ExpectedRows>;
  readonly failed: ReadonlySet<string>;
}

async function ruledIn(store: Store): Promise<Ruled> {
  const committed = new Map<string, ExpectedRows>();
  const failed = new Set<string>();
  for (const { kind, payload } of await allEntries(store, 't')) {
    const { action } = JSON.parse(payload);
    if (kind !== 'commit' || action.name === 'assize.settle') continue;
    const isFailure = action.args.startsWith('no ');
    const wanted = JSON.parse(isFailure ? action.args.slice(3) : action.args) as ExpectedRows;
    if (isFailure) failed.add(wanted.name);
    else {
      expect(committed.has(wanted.name)).toBe(false);
      committed.set(wanted.name, wanted);
    }
  }
  return { committed, failed };
}

/** Those that make a row, also in branches. */
function opsIn(
  ops: readonly Op[],
): Exclude<Op, { do: 'look' | 'pause' | 'speculate' | 'throw' }>[] {
  return ops.flatMap((op) => {
    if (op.do === 'speculate') return op.branches.flatMap(opsIn);
    return 'row' in op ? [op] : [];
  });
}

/** How often each row is there: it may be undone when it was done, and done again then. */
async function standing(query: Query): Promise<Map<string, Map<string, number>>> {
  const found = new Map<string, Map<string, number>>();
  for (const { place, name, row, did } of await query('SELECT * FROM done ORDER BY n')) {
    const rows = found.get(name) ?? new Map<string, number>();
    found.set(name, rows);
    const at = `${place}/${row}`;
    const stands = (rows.get(at) ?? 0) + (did === 'do' ? 1 : -1);
    expect([name, at, [0, 1].includes(stands)]).toEqual([name, at, true]);
    rows.set(at, stands);
  }
  return found;
}

/** Rows of unresolved effects that an operator has resolved as `undone`. */
async function givenUp(store: Store, lastEpoch: number): Promise<Map<string, Set<string>>> {
  const found = new Map<string, Set<string>>();
  for (let epoch = 1; epoch <= lastEpoch; epoch++) {
    const logged = await store.effectsOf(epoch);
    for (const { resolved, payload, tool } of logged === undefined
      ? []
      : readTransaction(logged).effects) {
      if (resolved?.as !== 'undone') continue;
      const { input } = (await readSalted((hash) => store.blob(hash), payload)) as {
        input: Record<string, string>;
      };
      const rows = found.get(input['order']!) ?? new Set();
      found.set(input['order']!, rows.add(`${tool}/${input['row']}`));
    }
  }
  return found;
}

/**
 * No staged row and no row due after the commit exists without the commit, at any stage of
 * recovery.
 */
async function checkNothingUnruled(query: Query, { committed }: Ruled): Promise<void> {
  for (const [name, rows] of await standing(query)) {
    const wanted = new Set(committed.get(name)?.rows);
    const unruled = [...rows].filter(
      ([row, n]) => n > 0 && !row.startsWith(AT_ONCE) && !wanted.has(row),
    );
    expect([name, unruled]).toEqual([name, []]);
  }
}

/**
 * The only reasons: a repeated call with another answer, with all effects of its batch, and a
 * refused row. `numbered` has the batches with a repeated call: a process that was killed between
 * two decisions has decided that call, and leaves the rest.
 */
function checkWhy(left: readonly UnresolvedTransaction[], numbered: Set<number>): void {
  for (const { tool, epoch } of left) if (tool === 'number') numbered.add(epoch);
  for (const { tool, why, epoch } of left) {
    const isRefused = tool === 'post' && why === 'sql_23514';
    const isOther = why === 'answers_otherwise' && numbered.has(epoch);
    expect([tool, why, isRefused || isOther]).toEqual([tool, why, true]);
  }
}

/**
 * After all possible recovery, each committed row exists once, and no other row exists. Rows of
 * unresolved transactions exist once at most.
 */
async function checkRecovered(
  query: Query,
  { committed, failed }: Ruled,
  waits: ReadonlySet<string>,
  without: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<void> {
  const there = await standing(query);
  for (const name of new Set([...committed.keys(), ...there.keys()])) {
    const rows = [...(there.get(name) ?? [])].filter(([, n]) => n > 0).map(([row]) => row);
    const { rows: wanted = [] } = failed.has(name) ? {} : (committed.get(name) ?? {});
    if (waits.has(name)) expect(wanted).toEqual(expect.arrayContaining(rows));
    else {
      const shall = wanted.filter((row) => without.get(name)?.has(row) !== true);
      expect([name, rows.toSorted()]).toEqual([name, shall.toSorted()]);
    }
  }
}

async function killAgainAndAgain(
  url: string,
  bank: string,
  query: Query,
  program: string,
): Promise<void> {
  for (const text of SETUP) await query(text);
  const begun = await openStore(url);
  await runtimeOver(begun, [orders]).create(orders, { trajectoryId: 't' });
  await begun.close();
  const next = seededNumbers(SEED);
  const seen: Record<string, number> = {};
  const told: ProcessLine[] = [];
  const looked = async <T>(look: (store: Store) => Promise<T>): Promise<T> => {
    const store = await openStore(url);
    try {
      return await look(store);
    } finally {
      await store.close();
    }
  };
  let lastEpoch = 0;
  const judge = async (left: readonly UnresolvedTransaction[] | undefined): Promise<void> => {
    await looked(async (store) => {
      const ruled = await ruledIn(store);
      await checkNothingUnruled(query, ruled);
      if (left === undefined) return;
      const epochs = (await store.openEffects()).map(({ epoch }) => epoch);
      // Every open transaction is unresolved, and every unresolved one is named.
      expect(epochs.toSorted()).toEqual([...new Set(left.map(({ epoch }) => epoch))].toSorted());
      lastEpoch = Math.max(
        lastEpoch,
        ...(await store.listEffects({ limit: 1 })).map(({ epoch }) => epoch),
      );
      await checkRecovered(
        query,
        ruled,
        new Set(left.map(({ name }) => name)),
        await givenUp(store, lastEpoch),
      );
    });
  };

  const life = async (
    from: number,
    to: number,
    { startMs, workMs, commit = '' }: End = {},
  ): Promise<void> => {
    const args = [url, bank, String(SEED), String(from), String(to), commit];
    const child = spawn(process.execPath, [program, ...args], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child.stdin.on('error', () => undefined);
    const exited = once(child, 'exit');
    const kill = (): void => void child.kill('SIGKILL');
    if (startMs !== undefined) void sleep(startMs).then(kill);
    for await (const line of createInterface({ input: child.stdout })) {
      const each = JSON.parse(line) as ProcessLine;
      told.push(each);
      if (!('left' in each)) continue;
      // If the process is killed in the meantime, no other process changes anything either.
      await judge(each.left);
      child.stdin.write('go\n');
      if (workMs !== undefined) void sleep(workMs).then(kill);
    }
    const [code, signal] = await exited;
    expect([0, null]).toContain(code);
    if (signal === null) seen['lived'] = (seen['lived'] ?? 0) + 1;
    await judge(undefined);
  };

  let from = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const ends: End[] = [
      { startMs: next(START_MS_MAX) },
      { workMs: next(WORK_MS_MAX) },
      { commit: `${1 + next(COMMITS_MAX)}:${next(3)}` },
    ];
    await life(from, from + ORDERS_A_ROUND, ends[next(ends.length)]);
    const last = told.flatMap((each) => ('order' in each ? [Number(each.order.slice(6))] : []));
    from = Math.max(0, Math.max(from, ...last) - 3);
  }
  await life(0, from + 10);
  // The work that the last process abandoned is recovered and decided.
  await life(0, 0);
  await life(0, 0);
  expect(told.findLast((each) => 'left' in each)).toEqual({ left: [] });

  const numbered = new Set<number>();
  for (const each of told) {
    if ('threw' in each) expect(THROWN).toContain(each.threw);
    if ('left' in each) checkWhy(each.left, numbered);
    const what =
      'ruling' in each
        ? `${each.ruling} ${each.effects}`
        : 'threw' in each
          ? each.threw
          : 'left' in each
            ? `left ${each.left.length > 0}`
            : 'closed';
    seen[what] = (seen[what] ?? 0) + 1;
    for (const { tool, why } of 'left' in each ? each.left : [])
      seen[`left ${tool} ${why}`] = (seen[`left ${tool} ${why}`] ?? 0) + 1;
  }
  await looked(async (store) => {
    await expectEffectLogMatches(store, 't', [], lastEpoch);
    const { committed, failed } = await ruledIn(store);
    for (const each of told)
      if ('ruling' in each && each.ruling === 'committed')
        expect([each.order, committed.has(each.order)]).toEqual([each.order, true]);
    seen['committed'] = committed.size;
    seen['failed'] = failed.size;
  });
  // Accounts and shared rows match the rows, and ended transactions hold no locks.
  const there = [...(await standing(query))].flatMap(([name, rows]) => {
    const ops = new Map(
      opsIn(orderOf(SEED, Number(name.slice(6))).ops).map((op) => [`${op.do}/${op.row}`, op]),
    );
    return [...rows].filter(([, n]) => n > 0).map(([row]) => ops.get(row));
  });
  const accounts = Object.fromEntries(ACCOUNTS.map((name) => [name, BEGINNING]));
  const shared = Object.fromEntries(SHARED.map((name) => [name, 0]));
  for (const op of there) {
    if (op?.do === 'move') accounts[op.account]! += op.by;
    if (op?.do === 'share') shared[op.at]! += 1;
  }
  const found = await query(
    'SELECT name, cents::int AS n FROM account UNION ALL SELECT name, n::int FROM shared',
  );
  expect(Object.fromEntries(found.map(({ name, n }) => [name, n]))).toEqual({
    ...accounts,
    ...shared,
  });
  await query(
    'DO $$ BEGIN LOCK TABLE account, shared, done IN ACCESS EXCLUSIVE MODE NOWAIT; END $$',
  );
  console.info(`killed ${ROUNDS} times, seed ${SEED}:`, seen);
}

withPostgres('sqlite, and held in postgres', (server) => {
  test('random orders of killed processes are whole once, absent or unresolved', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'assize-sql-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const bank = server.url();
    const schema = server.schemaOf(bank);
    await server.query(`CREATE SCHEMA "${schema}"`);
    const base = new URL(bank);
    base.searchParams.delete('schema');
    const outside = new Client({
      connectionString: base.href,
      options: `-c search_path=${schema}`,
    });
    await outside.connect();
    onTestFinished(() => outside.end());
    const program = await bundled(join(import.meta.dirname, 'sql-process.ts'));
    await killAgainAndAgain(
      `sqlite:${join(folder, 'store.db')}`,
      bank,
      async (text) => (await outside.query(text)).rows,
      program,
    );
  });
});
