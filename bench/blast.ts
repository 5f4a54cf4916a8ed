/**
 * The entries that derive from a bad one. The search reads a ledger of a million entries.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blastRadius, type IncidentStart } from '@assize/audit';
import { writId } from 'assize';
import { integrateLog } from '#ledger';
import { openSqlite, type SqliteStore } from '#stores';
import { type BenchResult, formatTable, median } from './measure.ts';
import { openShop, visit } from './shop.ts';

const TRAJECTORIES = 100;
const COMMITS = Number(process.env['BENCH_BLAST'] ?? 10_000);
const MEMBERS = 500;
const ROUNDS = 3;

export async function blastBench(): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-bench-'));
  const path = join(folder, 'ledger.db');
  try {
    const starts = await writeShops(path);
    const store = await openSqlite({ path });
    const results: BenchResult[] = [];
    for (const { name, start } of starts) {
      const rounds = [];
      for (let n = 0; n < ROUNDS; n++) rounds.push(await timed(store, start));
      results.push({
        name: `${entriesText()}: ${name}, ${rounds[0]!.affected} affected`,
        value: median(rounds.map((round) => round.seconds)),
        unit: 's',
      });
    }
    await store.close();
    return results;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function entriesText(): string {
  return `${(TRAJECTORIES * (COMMITS + 1)).toLocaleString('en')} entries`;
}

async function writeShops(
  path: string,
): Promise<{ readonly name: string; readonly start: IncidentStart }[]> {
  const store = await openSqlite({ path, durability: 'off' });
  const starts: { name: string; start: IncidentStart }[] = [];
  for (let n = 0; n < TRAJECTORIES; n++) {
    const { trajectory, writ } = await openShop(store, MEMBERS);
    for (let i = 0; i < COMMITS; ) {
      const group = Array.from({ length: Math.min(1_000, COMMITS - i) }, () =>
        trajectory.propose({ ...visit(i++, MEMBERS), writ }),
      );
      const rulings = await Promise.all(group);
      for (const { ruling } of rulings)
        if (ruling !== 'committed') throw new Error(`unexpected: ${ruling}`);
      const [one] = rulings;
      if (n === TRAJECTORIES / 2 && i <= 1_000 && one?.ruling === 'committed')
        starts.push(
          { name: 'from one entry', start: { entry: one.entry.id } },
          { name: 'from a writ', start: { writ: writId(writ) } },
        );
    }
  }
  await integrateLog(store);
  await store.close();
  return starts;
}

async function timed(
  store: SqliteStore,
  start: IncidentStart,
): Promise<{ readonly seconds: number; readonly affected: number }> {
  const from = performance.now();
  const { entries } = await blastRadius(store, start);
  return { seconds: (performance.now() - from) / 1_000, affected: entries.length };
}

if (import.meta.main) console.log(formatTable(await blastBench()));
