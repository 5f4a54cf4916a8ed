import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { TestPostgres } from './with-postgres.ts';

/**
 * The searched files of the server: its WAL, or all its other files, of any database and catalogue.
 */
export type Where = 'wal' | 'elsewhere';

/**
 * The sought values that the server's files contain. A checkpoint first writes out the server's
 * memory and removes obsolete files.
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

/** The guide's instructions to an operator. They leave no erased value in the WAL. */
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
