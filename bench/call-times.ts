/** The gate that the benchmarks of tool calls share, and the times of calls. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Gate, openGate } from '#calls';

/** The calls that are made concurrently, compared with one after the other. */
export const AT_ONCE = 16;

const RULES = `
id: bench
tools:
  shop/look: { class: read }
  shop/pay: { class: irreversible }
rules:
  - { id: look, allow: shop/look }
  - { id: pay, allow: shop/pay, where: [{ path: /cents, max: 1000 }] }
`;

/** A gate over a SQLite store with durable commits, in a folder. */
export function openBenchGate(folder: string): Promise<Gate> {
  const rules = join(folder, 'assize.yaml');
  writeFileSync(rules, RULES);
  return openGate({
    store: `sqlite:${join(folder, 'calls.db')}`,
    rules,
    agent: 'ada',
    server: 'shop',
  });
}

/** Makes the n-th call. */
export type Call = (n: number) => Promise<unknown>;

/** One durable insert of the size of an entry. */
export function inserter(path: string): Call {
  const db = new DatabaseSync(path);
  db.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)',
  );
  const insert = db.prepare('INSERT INTO t (text) VALUES (?)');
  const text = 'x'.repeat(1_500);
  return async () => {
    insert.run(text);
  };
}

/** The time of each call, in milliseconds, one after the other. */
export async function timesOf(call: Call, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < count; n++) {
    const start = performance.now();
    await call(n);
    times.push(performance.now() - start);
  }
  return times;
}

/** The time of a call, in milliseconds, when `AT_ONCE` are made concurrently. */
export async function timeTogether(call: Call, count: number): Promise<number> {
  const start = performance.now();
  for (let n = 0; n < count; n += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => call(n + index)));
  return (performance.now() - start) / count;
}
