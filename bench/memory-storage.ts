/**
 * The bytes that a contradiction takes where the same thing is contradicted again and again: its
 * entry, its blobs, the row that is closed, the one that is believed, and the one that lost.
 * Counted in pages of the store, after so many.
 */
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import type { BenchResult } from './measure.ts';
import { believed, openWard, said } from './ward.ts';

const COUNTS = [100, 1_000, 10_000];
/** Number of contradictions in flight, each planned on the previous one. */
const CALLERS = 16;
/** The most that the last writes may take, in times of the first ones, under linear growth. */
const LINEAR = 1.25;

export function storageOnSqlite(path: string): Promise<BenchResult[]> {
  return storageBench('SQLite', `sqlite:${path}`, async () => {
    const db = new DatabaseSync(path, { readOnly: true });
    const [count, size] = ['page_count', 'page_size'].map(
      (name) => db.prepare(`PRAGMA ${name}`).get()![name],
    );
    db.close();
    return Number(count) * Number(size);
  });
}

/** `base` is the URL of the database; the store is in a schema of that name. */
export async function storageOnPostgres(base: string, schema: string): Promise<BenchResult[]> {
  const client = new Client({ connectionString: base });
  await client.connect();
  try {
    return await storageBench('PostgreSQL', `${base}?schema=${schema}`, async () => {
      const { rows } = await client.query(
        `SELECT sum(pg_total_relation_size(c.oid)) AS bytes FROM pg_class AS c
         WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'r'`,
        [schema],
      );
      return Number(rows[0].bytes);
    });
  } finally {
    await client.end();
  }
}

async function storageBench(
  where: string,
  url: string,
  bytes: () => Promise<number>,
): Promise<BenchResult[]> {
  const ward = await openWard(url, { durability: 'off' });
  const [memory] = ward.memories;
  let n = 0;
  const contradict = async (): Promise<void> =>
    believed(memory.assert(said('7', `drug ${String(n++).padStart(8, '0')}`)));
  try {
    await contradict();
    let before = await bytes();
    let from = 0;
    const each: number[] = [];
    for (const count of COUNTS) {
      let left = count - from;
      const call = async (): Promise<void> => {
        while (left-- > 0) await contradict();
      };
      await Promise.all(Array.from({ length: CALLERS }, call));
      const after = await bytes();
      each.push((after - before) / (count - from));
      [before, from] = [after, count];
    }
    const [, ...rows] = await memory.history({ kind: 'all', limit: 3 });
    const baseline = { name: 'of its two rows as JSON', value: JSON.stringify(rows).length };
    return [
      ...COUNTS.map((count, i) => ({
        name: `${where}: bytes of one more contradiction of the same, up to ${count.toLocaleString('en-US')}`,
        value: each[i]!,
        unit: 'B',
        baseline,
        ratio: each[i]! / baseline.value,
      })),
      {
        name: `${where}: bytes of a contradiction, up to 10,000, of those up to 1,000`,
        value: each[2]! / each[1]!,
        unit: '',
        goal: { max: LINEAR },
      },
    ];
  } finally {
    await ward.close();
  }
}
