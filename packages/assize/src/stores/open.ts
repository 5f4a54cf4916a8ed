import { arg, checkArgument } from '#base';
import type {
  EffectStore,
  FactStore,
  LedgerStore,
  LogStore,
  SideStore,
  SnapshotStore,
} from '#ledger';
import type { OracleStore } from '#oracle';
import type { Adoptable } from './adoption.ts';
import type { Archivable } from './archive/archive-entries.ts';
import { defaultArchive } from './archive/open-place.ts';
import type { Sealable } from './entry-seals.ts';
import { StoreError } from './errors.ts';
import type { Followable } from './follow.ts';
import type { InPlace } from './in-place.ts';
import { OF_POSTGRES, OF_SQLITE, STORE_OPTIONS } from './option-names.ts';
import { requireCheckpoint } from './require-checkpoint.ts';
import type { Retirable } from './retirement.ts';
import { openSqlite, TemporaryStore } from './sqlite/index.ts';
import type { StoreOptions } from './store-options.ts';

/**
 * All ports of one store. `follow`, `retire` and `archiveEntries` exist unless the store is in
 * memory. `requireInPlace` exists if the store is a file (SQLite).
 */
export type Store = LedgerStore &
  LogStore &
  OracleStore &
  SnapshotStore &
  EffectStore &
  FactStore &
  SideStore &
  Adoptable &
  Sealable &
  Partial<Followable> &
  Partial<Retirable> &
  Partial<Archivable> &
  Partial<InPlace>;

/**
 * Opens the store at a URL.
 *
 * - `sqlite:./file.db` or `sqlite:/absolute/file.db`: the path is everything after the colon,
 *   without unescaping. `?name=value` at its end is refused, because it is not part of a path.
 * - `postgres://user:password@host:5432/database?schema=assize` (or `postgresql://…`): requires the
 *   package `@assize/postgres`.
 * - `memory:`: each call opens a new and empty store.
 *
 * @throws {StoreError} `store_unknown` for another URL; `bad_checkpoint`; otherwise the errors of
 * `openSqlite` and `openPostgres`; ArgumentError `bad_argument`
 */
export async function openStore(url: string, given: StoreOptions = {}): Promise<Store> {
  checkArgument(arg.text, url, 'url');
  checkArgument(STORE_OPTIONS, given, 'options');
  const { checkpoint, archive = defaultArchive(url), ...options } = given;
  const store = await openByUrl(url, { ...options, archive });
  const file = checkpoint ?? checkpointFile(url);
  try {
    // A sealed store stays one for this process, also if its mark is removed later.
    if (options.rootKeys !== undefined) await store.sealState();
    if (typeof file === 'string') await requireCheckpoint(store, file);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * The default file of the store's last checkpoint. Undefined if the store is not a file.
 *
 * @throws ArgumentError `bad_argument`
 */
export function checkpointFile(url: string): string | undefined {
  checkArgument(arg.text, url, 'url');
  return url.startsWith('sqlite:') ? `${url.slice('sqlite:'.length)}.checkpoint` : undefined;
}

async function openByUrl(url: string, options: Omit<StoreOptions, 'checkpoint'>): Promise<Store> {
  const colon = url.indexOf(':');
  const scheme = url.slice(0, colon + 1);
  const path = url.slice(colon + 1);
  refuseOptionsIn(scheme, path);
  checkStoreUrl(url);
  if (scheme === 'sqlite:') return openSqlite({ ...those(options, OF_SQLITE), path });
  if (scheme === 'memory:') {
    return new TemporaryStore({ clock: options.clock });
  }
  const { openPostgres } = await import('@assize/postgres').catch(notInstalled);
  return openPostgres({ ...those(options, OF_POSTGRES), url });
}

function notInstalled(cause: unknown): never {
  if (!(cause instanceof Error) || !('code' in cause) || cause.code !== 'ERR_MODULE_NOT_FOUND')
    throw cause;
  throw new StoreError(
    'missing_package',
    'The package @assize/postgres, which a PostgreSQL store needs, is not installed. Run npm install @assize/postgres.',
    { cause },
  );
}

/**
 * Refuses a URL that names no kind of store. Opens nothing.
 *
 * @throws StoreError `store_unknown`; ArgumentError `bad_argument`
 */
export function checkStoreUrl(url: string): void {
  checkArgument(arg.text, url, 'url');
  const colon = url.indexOf(':');
  const scheme = url.slice(0, colon + 1);
  const path = url.slice(colon + 1);
  if (scheme === 'sqlite:' && path !== '' && path !== ':memory:' && !path.startsWith('//')) return;
  if (['postgres:', 'postgresql:'].includes(scheme) && path.startsWith('//')) return;
  if (scheme === 'memory:' && path === '') return;
  // Only the scheme: the rest of a URL can contain a password.
  throw new StoreError(
    'store_unknown',
    `The URL does not name a store (${scheme === '' ? 'it has no scheme' : `'${scheme}'`}). Write sqlite:./file.db, sqlite:/absolute/file.db, postgres://user:password@host/database, or memory: for a temporary store.`,
    { evidence: { scheme, known: ['sqlite:', 'postgres:', 'postgresql:', 'memory:'] } },
  );
}

/**
 * An option in a URL would be a part of the path of SQLite, and the driver of PostgreSQL ignores
 * it. @throws StoreError `store_unknown`
 */
function refuseOptionsIn(scheme: string, path: string): void {
  const isPath = scheme === 'sqlite:';
  const [, query = ''] = (isPath ? /\?([^/?]*=[^/?]*)$/ : /\?(.*)$/).exec(path) ?? [];
  const option = [...new URLSearchParams(query).keys()].find(
    (name) => isPath || Object.hasOwn(OF_POSTGRES, name) || Object.hasOwn(OF_SQLITE, name),
  );
  if (option === undefined) return;
  throw new StoreError(
    'store_unknown',
    `A store URL has no option ${option}. Remove it from the URL: programs pass options to openStore, and each command sets its own.`,
    { evidence: { scheme, option } },
  );
}

/** The options of one store, out of all options. */
function those<Own extends object>(
  options: StoreOptions,
  own: Own,
): Pick<StoreOptions, keyof Own & keyof StoreOptions> {
  return Object.fromEntries(
    Object.entries(options).filter(([name]) => Object.hasOwn(own, name)),
  ) as never;
}
