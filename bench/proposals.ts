/**
 * Whole proposals at 64 callers, from the intent to the durable entry, beside bare inserts of
 * entries of the same bytes, as many a transaction as there are callers, so with the same number of
 * syncs.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type EntryRow, openStore, type Store } from 'assize';
import { type BenchResult, formatTable, median } from './measure.ts';
import { openShop, visit } from './shop.ts';

export const CALLERS = 64;
const PER_ROUND = 8_192;
const ROUNDS = 9;
const MEMBERS = 1_000;

export async function proposalsBench(): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-bench-'));
  try {
    const store = await openStore(`sqlite:${join(folder, 'ledger.db')}`);
    const bare = new BareInserts(join(folder, 'bare.db'));
    const result = await measureProposals(store, (rows) => bare.insert(rows), PER_ROUND);
    bare.close();
    await store.close();
    return [
      {
        name: `whole proposals, ${CALLERS} callers, durable`,
        ...result,
        goal: { min: 20_000, ratioMin: 0.5 },
      },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * `perRound`: the number of proposals in a round. `insertBare` writes the entries of one round and
 * returns the rows per second.
 */
export async function measureProposals(
  store: Store,
  insertBare: (rows: readonly EntryRow[]) => number | Promise<number>,
  perRound: number,
): Promise<Omit<BenchResult, 'name'>> {
  const { trajectory, writ } = await openShop(store, MEMBERS);
  const own: number[] = [];
  const baseline: number[] = [];
  let n = 0;
  for (let round = -1; round < ROUNDS; round++) {
    const rows: EntryRow[] = [];
    const start = performance.now();
    let left = perRound;
    await Promise.all(
      Array.from({ length: CALLERS }, async () => {
        while (left-- > 0) {
          const ruling = await trajectory.propose({ ...visit(n++, MEMBERS), writ });
          if (ruling.ruling !== 'committed') throw new Error(`unexpected: ${ruling.ruling}`);
          rows.push(ruling.entry);
        }
      }),
    );
    const rate = (rows.length / (performance.now() - start)) * 1_000;
    const bareRate = await insertBare(rows);
    if (round < 0) continue;
    own.push(rate);
    baseline.push(bareRate);
  }
  return {
    value: median(own),
    unit: '/s',
    baseline: { name: 'bare inserts', value: median(baseline) },
    ratio: median(own.map((rate, i) => rate / (baseline[i] as number))),
  };
}

/**
 * One prepared statement, full durability, one transaction for as many rows as there are callers.
 */
class BareInserts {
  readonly #db: DatabaseSync;

  constructor(path: string) {
    this.#db = new DatabaseSync(path);
    this.#db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
      CREATE TABLE entry (trajectory INTEGER, seq INTEGER, id BLOB UNIQUE, kind TEXT, payload TEXT, PRIMARY KEY (trajectory, seq)) STRICT`);
  }

  insert(rows: readonly EntryRow[]): number {
    const bound = rows.map(
      (row) => [1, row.seq, Buffer.from(row.id, 'hex'), row.kind, row.payload] as const,
    );
    const statement = this.#db.prepare('INSERT INTO entry VALUES (?, ?, ?, ?, ?)');
    const start = performance.now();
    for (let from = 0; from < bound.length; from += CALLERS) {
      this.#db.exec('BEGIN IMMEDIATE');
      for (const values of bound.slice(from, from + CALLERS)) statement.run(...values);
      this.#db.exec('COMMIT');
    }
    return (bound.length / (performance.now() - start)) * 1_000;
  }

  close(): void {
    this.#db.close();
  }
}

if (import.meta.main) console.log(formatTable(await proposalsBench()));
