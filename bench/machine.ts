/**
 * The speed of this machine, compared with the machine on which the goals in seconds were set.
 * Prototypes on that machine write and hash 323,000 to 344,000 payloads a second. The ratio to
 * `JSON.stringify` with a hash is 0.52 to 0.56. A bare commit of one row takes 105 to 115 µs there.
 * If a goal in seconds is missed, these figures show whether the machine is too slow for it. Ratios
 * need no such figures.
 */
import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { payloads } from './canon.ts';
import { type BenchResult, compare, formatTable, keep, median, type Rate } from './measure.ts';

/** Operations a second there, by the middle of each span. */
const HASHES = 618_000;
const COMMITS = 9_100;

export async function machineBench(): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-bench-'));
  const db = new DatabaseSync(join(folder, 'row.db'));
  try {
    db.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE row (id INTEGER PRIMARY KEY, text TEXT)',
    );
    const insert = db.prepare('INSERT INTO row (text) VALUES (?)');
    const given = payloads();
    let next = 0;
    const written = (): string => JSON.stringify(given[next++ % given.length]);
    const [hashed, committed] = await compare(
      [
        {
          name: 'this machine: JSON.stringify + hash, 600-byte payload',
          run: many(() => hash('sha256', written(), 'hex')),
        },
        {
          name: 'this machine: a bare commit of one row, one after the other',
          run: many(() => insert.run('x'.repeat(600))),
        },
      ],
      { rounds: 9 },
    );
    return [besideThat(hashed!, HASHES), besideThat(committed!, COMMITS)];
  } finally {
    db.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function many(step: () => unknown): (count: number) => void {
  return (count) => {
    for (let left = count; left > 0; left--) keep(step());
  };
}

function besideThat({ name, rounds }: Rate, there: number): BenchResult {
  const value = median(rounds);
  const baseline = { name: 'where goals were set', value: there };
  return { name, value, unit: '/s', baseline, ratio: value / there };
}

if (import.meta.main) console.log(formatTable(await machineBench()));
