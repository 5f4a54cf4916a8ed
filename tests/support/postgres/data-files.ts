import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { TestPostgres } from './with-postgres.ts';

/** Where bytes of the server are looked for: in its WAL, or in all else that it keeps, of whichever database and catalogue. */
export type Where = 'wal' | 'elsewhere';

/**
 * Which of these the server's files have. What it has in memory alone is written out before, and files that it has done with are removed:
 * that is what a checkpoint does.
 */
export async function inFiles<T extends string | Buffer>(
  postgres: TestPostgres,
  where: Where,
  sought: readonly T[],
): Promise<T[]> {
  await postgres.query('CHECKPOINT');
  const [row] = await postgres.query('SHOW data_directory');
  const folder = row!['data_directory'] as string;
  const found = new Set<T>();
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (name.startsWith(`pg_wal${sep}`) !== (where === 'wal')) continue;
    const bytes = contentOf(join(folder, name));
    for (const each of sought) if (!found.has(each) && bytes.includes(each)) found.add(each);
  }
  return sought.filter((each) => found.has(each));
}

/** What the guide tells an operator to do, so that nothing is left in the WAL of what was erased. */
export async function overwriteWal(postgres: TestPostgres): Promise<void> {
  const [row] = await postgres.query('SELECT count(*)::int AS files FROM pg_ls_waldir()');
  for (let file = 0; file < row!['files'] + 2; file += 1) {
    await postgres.query('SELECT pg_switch_wal()');
    await postgres.query('CHECKPOINT');
  }
}

// Folders have none, and files come and go with the server's work.
function contentOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}
