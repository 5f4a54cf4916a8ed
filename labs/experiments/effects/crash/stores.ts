import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from 'assize/internal/stores';

/** Where a store of processes is that are killed. */
export interface CrashStore extends AsyncDisposable {
  readonly url: string;
  /**
   * Copies the store with all its data, while no process has it open. Missing if the store cannot
   * be copied.
   */
  copy?(): Promise<CrashStore>;
}

/**
 * A file in a folder, with the contents of the folder `from`, whose tool calls it takes over.
 * Disposing of it removes the folder.
 */
export async function sqlitePlace(from?: string): Promise<CrashStore> {
  const folder = await mkdtemp(join(tmpdir(), 'assize-crash-windows-'));
  const url = `sqlite:${join(folder, 'store.db')}`;
  if (from !== undefined) {
    await cp(from, folder, { recursive: true });
    await takeOver(url);
  }
  return {
    url,
    copy: () => sqlitePlace(folder),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

/** A copy calls no tools until it is adopted. Each copy here has sinks of its own. */
async function takeOver(url: string): Promise<void> {
  const store = await openStore(url);
  try {
    await store.adopt({
      at: '2026-01-01T00:00:00.000000Z',
      reason: 'the same crash is recovered again',
    });
  } finally {
    await store.close();
  }
}

/**
 * A schema of that server, with a store in it. Disposing of it drops the schema.
 *
 * @throws StoreError, as opening a store there does
 */
export function postgresPlace(server: string): () => Promise<CrashStore> {
  return async () => {
    const [base = '', query = ''] = server.split('?');
    const parameters = new URLSearchParams(query);
    const schema = `assize_crash_${randomBytes(8).toString('hex')}`;
    parameters.set('schema', schema);
    const url = `${base}?${parameters}`;
    try {
      // Opening the store reports an error of the URL, the server or its driver with a remedy. A
      // failure to drop the schema would not.
      await (await openStore(url)).close();
    } catch (error) {
      await dropSchema(server, schema).catch(() => undefined);
      throw error;
    }
    return { url, [Symbol.asyncDispose]: () => dropSchema(server, schema) };
  };
}

async function dropSchema(server: string, schema: string): Promise<void> {
  const { Client } = (await import('pg')).default;
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  } finally {
    await client.end();
  }
}
