import type { LedgerStore } from '#ledger';
import type { OracleStore } from '#oracle';
import { StoreError } from './errors.ts';
import { MemoryStore } from './memory/index.ts';
import { openSqlite, type SqliteOptions } from './sqlite/index.ts';

/** Both ports over one place. */
export type Store = LedgerStore & OracleStore;

/** As for `openSqlite`; a store in memory has no use for them. */
export type StoreOptions = Omit<SqliteOptions, 'path'>;

/**
 * Opens the store that a URL names: `sqlite:./file.db` or `sqlite:/absolute/file.db` (all after the colon is the path, as
 * it stands), or `memory:`, which is new and empty each time.
 *
 * @throws {StoreError} `store_unknown` for another URL; otherwise as `openSqlite`.
 */
export async function openStore(url: string, options: StoreOptions = {}): Promise<Store> {
  const colon = url.indexOf(':');
  const scheme = url.slice(0, colon + 1);
  const path = url.slice(colon + 1);
  if (scheme === 'sqlite:' && path !== '' && path !== ':memory:' && !path.startsWith('//')) {
    return openSqlite({ ...options, path });
  }
  if (scheme === 'memory:' && path === '') return new MemoryStore();
  // Only the scheme: the rest of a URL may hold a password.
  throw new StoreError(
    'store_unknown',
    `No store goes by a URL like this one ('${scheme || url}'); write sqlite:./file.db, sqlite:/absolute/file.db, or memory: for a store that is not kept.`,
    { evidence: { scheme, known: ['sqlite:', 'memory:'] } },
  );
}
