/**
 * A store with all entries in an archive, beside the same store without one: the rate of verify,
 * and the size of the database.
 */
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { verifyStore } from 'assize';
import { integrateLog, logHead } from '#ledger';
import { openSqlite, type SqliteStore } from '#stores';
import { type BenchResult, formatTable, median } from './measure.ts';
import { openShop, visit } from './shop.ts';

const ENTRIES = 100_000;
const ROUNDS = 5;

export async function archiveBench(): Promise<BenchResult[]> {
  return [...(await ratesWith(1, 1_000)), ...(await ratesWith(100, 10))];
}

/** Of trajectories that were written at the same time, each a state of that many members. */
async function ratesWith(trajectories: number, members: number): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-bench-'));
  const [plain, archived] = [join(folder, 'plain.db'), join(folder, 'archived.db')];
  const archive = `file:${join(folder, 'archive')}`;
  try {
    await writeTrajectories(plain, trajectories, members);
    cpSync(plain, archived);
    const seconds = await archiveAll(archived, archive);
    const stores = [
      await openSqlite({ path: plain, mode: 'readonly' }),
      await openSqlite({ path: archived, mode: 'readonly', archive }),
    ] as const;
    const what =
      trajectories === 1 ? '1 trajectory' : `${trajectories} trajectories written concurrently`;
    const rates = await verifyRates(stores, what);
    for (const store of stores) await store.close();
    return [...rates, ...sizes(plain, archived, join(folder, 'archive'), what, seconds)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function writeTrajectories(
  path: string,
  trajectories: number,
  members: number,
): Promise<void> {
  const store = await openSqlite({ path, durability: 'off' });
  const shops = [];
  for (let n = 0; n < trajectories; n++) shops.push(await openShop(store, members));
  const each = Math.max(1, Math.floor(1_000 / trajectories));
  for (let i = 0; i < ENTRIES / trajectories; i += each) {
    const group = shops.flatMap(({ trajectory, writ }) =>
      Array.from({ length: each }, (_, n) =>
        trajectory.propose({ ...visit(i + n, members), writ }),
      ),
    );
    for (const { ruling } of await Promise.all(group))
      if (ruling !== 'committed') throw new Error(`unexpected: ${ruling}`);
  }
  await integrateLog(store);
  await store.close();
}

/** The seconds that it took. */
async function archiveAll(path: string, archive: string): Promise<number> {
  const store = await openSqlite({ path, archive });
  const start = performance.now();
  await store.archiveEntries({ checkpoint: { origin: 'bench', ...(await logHead(store)) } });
  const seconds = (performance.now() - start) / 1_000;
  await store.close();
  const db = new DatabaseSync(path);
  db.exec('VACUUM');
  db.close();
  return seconds;
}

async function verifyRates(
  stores: readonly [SqliteStore, SqliteStore],
  what: string,
): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  for (const threads of [1, 2] as const) {
    const rates: [plain: number[], archived: number[]] = [[], []];
    for (let round = -1; round < ROUNDS; round++)
      for (const [at, store] of stores.entries()) {
        const rate = await verifyRate(store, threads);
        if (round >= 0) rates[at]!.push(rate);
      }
    const [plain, archived] = rates;
    results.push({
      name: `verify ${ENTRIES.toLocaleString('en-US')} archived, ${what}, ${threads} thread${threads > 1 ? 's' : ''}`,
      value: median(archived),
      unit: '/s',
      baseline: { name: 'in the database', value: median(plain) },
      ratio: median(archived.map((rate, round) => rate / plain[round]!)),
      goal: { ratioMin: 0.8 },
    });
  }
  return results;
}

async function verifyRate(store: SqliteStore, threads: 1 | 2): Promise<number> {
  const start = performance.now();
  const reports = await verifyStore(store, { threads });
  if (!reports.every(({ valid }) => valid)) throw new Error('the ledger must verify');
  const entries = reports.reduce((sum, report) => sum + report.entries, 0);
  return (entries / (performance.now() - start)) * 1_000;
}

function sizes(
  plain: string,
  archived: string,
  folder: string,
  what: string,
  seconds: number,
): BenchResult[] {
  const bytes = readdirSync(folder).reduce(
    (sum, name) => sum + statSync(join(folder, name)).size,
    0,
  );
  const each = (size: number): number => size / ENTRIES;
  const before = each(statSync(plain).size);
  return [
    {
      name: `  database, an entry, ${what}`,
      value: each(statSync(archived).size),
      unit: 'B',
      baseline: { name: 'before', value: before },
      ratio: each(statSync(archived).size) / before,
    },
    { name: '  files of the archive, an entry', value: each(bytes), unit: 'B' },
    { name: '  entries archived', value: ENTRIES / seconds, unit: '/s' },
  ];
}

if (import.meta.main) console.log(formatTable(await archiveBench()));
