import { Client } from 'pg';
import type { TestPostgres } from './with-postgres.ts';

/**
 * Another session's transaction. It locks a table of the store at that URL until the returned
 * function ends it, or the server ends. `EXCLUSIVE` blocks writers only.
 */
export async function holdTable(
  url: string,
  table: string,
  mode: 'ACCESS EXCLUSIVE' | 'EXCLUSIVE' = 'ACCESS EXCLUSIVE',
): Promise<() => Promise<void>> {
  const base = new URL(url);
  const schema = base.searchParams.get('schema');
  base.searchParams.delete('schema');
  const client = new Client({ connectionString: base.href });
  // Of a server that ends.
  client.on('error', () => undefined);
  await client.connect();
  await client.query(`BEGIN; LOCK TABLE "${schema}".${table} IN ${mode} MODE`);
  return async () => {
    await client.query('ROLLBACK');
    await client.end();
  };
}

/** Settles when a store's connection waits for a lock. */
export function untilOneWaits(postgres: TestPostgres): Promise<void> {
  return untilWait(postgres, 1);
}

/** Settles when so many connections of stores wait for locks. */
export async function untilWait(postgres: TestPostgres, count: number): Promise<void> {
  const waiting =
    "SELECT FROM pg_stat_activity WHERE application_name = 'assize' AND wait_event_type = 'Lock'";
  while ((await postgres.query(waiting)).length < count);
}
