import { arg, checkArgument, isAssizeError } from 'assize/internal/base';
import { checkInput } from 'assize/internal/stores/check-input.ts';
import { sealsOf } from 'assize/internal/stores/entry-seals.ts';
import { StoreError } from 'assize/internal/stores/errors.ts';
import { POSTGRES_OPTIONS } from 'assize/internal/stores/option-names.ts';
import {
  ARCHIVE,
  DURABILITY,
  MODE,
  type OpenMode,
  ROOT_KEYS,
  SCRUBBING,
  WRITE_LOCK_WAIT_MS,
} from 'assize/internal/stores/options.ts';
import type { PostgresOptions } from 'assize/internal/stores/postgres-options.ts';
import { badUrl, readUrl, type StoreUrl, type Target } from './connection/connection-url.ts';
import { type DriverClient, loadDriver } from './connection/driver.ts';
import { Readers } from './connection/readers.ts';
import { Servers } from './connection/servers.ts';
import { newClient, type Session, type SessionOptions } from './connection/session.ts';
import { LEASE_WAIT_MS, Leases } from './effects/lease.ts';
import { storeError } from './errors.ts';
import { sealEmpty } from './ledger/seals.ts';
import { refuseRetired } from './retirement.ts';
import { requireSchema } from './schema/check-schema.ts';
import { checkMark, migrate, readMark, SCHEMA_VERSION } from './schema/migrate.ts';
import { PostgresStore } from './store.ts';
import { AnsweredWrites } from './writer/answered-writes.ts';
import { REWRITE_TIMEOUT_MS } from './writer/scrub.ts';
import { WRITE_LOCKS_MAX, WriteLocks } from './writer/write-locks.ts';
import { Writer } from './writer/writer.ts';

/**
 * Defaults. The limits allow for another writer's commit, a page of large entries, and a distant
 * server.
 */
export const LOCK_TIMEOUT_MS = 5_000;
export const STATEMENT_TIMEOUT_MS = 30_000;
export const CONNECT_TIMEOUT_MS = 10_000;
/** With the pauses about 25 seconds: longer than most servers take to restart. */
export const CONNECT_ATTEMPTS = 20;
export const READERS = 4;

/** The first server version with every feature that this store uses. */
const SERVER_VERSION_MIN = 140_000;

/**
 * Opens the store in one schema of a PostgreSQL database, and creates the schema if `mode` allows
 * it.
 *
 * The connections must go to the server itself, or through a pooler in session mode, because
 * settings, prepared statements and `LISTEN` last for a session.
 *
 * @throws {StoreError} `store_not_found`; `store_other_schema` (nothing was changed);
 * `store_other_schema`, `store_retired`, `store_readonly`, `store_locked`, `store_failed`,
 * `store_unreachable`; `store_invalid_input` for an invalid URL or invalid options; ArgumentError
 * `bad_argument`. No error repeats the password.
 */
export async function openPostgres(options: PostgresOptions): Promise<PostgresStore> {
  checkArgument(POSTGRES_OPTIONS, options, 'options');
  const {
    mode = 'create',
    durability = 'full',
    notify: tell = true,
    connectAttempts: attempts = CONNECT_ATTEMPTS,
  } = options;
  const { readers: max = READERS, scrub = 'at_once' } = options;
  checkInput(MODE, mode, 'options.mode');
  checkInput(DURABILITY, durability, 'options.durability');
  checkInput(SCRUBBING, scrub, 'options.scrub');
  checkInput(ARCHIVE, options.archive, 'options.archive');
  checkInput(ROOT_KEYS, options.rootKeys, 'options.rootKeys');
  const named = readUrl(options.url);
  const { url, schema } = named;
  checkInput(COUNT, attempts, 'options.connectAttempts');
  checkInput(COUNT, max, 'options.readers');
  const settings = await settle(options, named);
  const { path } = settings;
  const servers = new Servers({ urls: named.servers, target: targetOf(named, mode), path });
  const open = (): Promise<Session> => servers.open(settings);
  const session = await open();
  try {
    await checkServer(session, path);
    const mark = await readMark(session, schema);
    checkMark(mark, path, mode);
    const readers = new Readers({ path, max, attempts, open });
    const waitForTurn = (): Promise<Session> =>
      servers.open({ ...settings, lockTimeoutMs: WRITE_LOCK_WAIT_MS });
    const turns = new WriteLocks(
      new Readers({ path, max: WRITE_LOCKS_MAX, attempts: 1, open: waitForTurn }),
      schema,
    );
    const statementTimeoutMs = Math.max(settings.statementTimeoutMs, 2 * LEASE_WAIT_MS);
    const waitForTenure = (): Promise<Session> =>
      servers.open({ ...settings, statementTimeoutMs, lockTimeoutMs: LEASE_WAIT_MS });
    const tenures = new Leases({ path, schema, attempts, open: waitForTenure });
    if (mode === 'readonly') {
      readers.add(session);
      return new PostgresStore({
        url,
        path,
        schema,
        readers,
        writer: undefined,
        answered: undefined,
        scrubbing: undefined,
        turns,
        tenures,
        tell,
        archive: options.archive,
        rootKeys: options.rootKeys,
        open,
      });
    }
    // Without durability a crash of the server may lose answered writes.
    const answered = durability === 'full' ? new AnsweredWrites(schema, path) : undefined;
    const check = async (again: Session): Promise<void> => {
      checkMark(await readMark(again, schema), path, 'readonly');
      await answered?.check(again);
    };
    const openToRewrite = (): Promise<Session> =>
      servers.open({ ...settings, statementTimeoutMs: REWRITE_TIMEOUT_MS });
    const writer = await Writer.over(session, { path, durability, attempts, open, check });
    if (mark.is !== 'ours' || mark.version < SCHEMA_VERSION)
      await migrate(session, schema, path, mode);
    const scrubbing =
      scrub === 'later'
        ? undefined
        : { lockTimeoutMs: settings.lockTimeoutMs, open: openToRewrite };
    await refuseRetired(session, schema, path);
    await requireSchema(session, schema, path);
    if (sealsOf(options.rootKeys) !== undefined) await sealEmpty(session, schema);
    const store = new PostgresStore({
      ...{ url, path, schema, readers, writer, answered },
      ...{
        scrubbing,
        turns,
        tenures,
        tell,
        archive: options.archive,
        rootKeys: options.rootKeys,
        open,
      },
    });
    await goOnErasing(store);
    return store;
  } catch (error) {
    await session.end();
    throw storeError(error, path, 'Opening');
  }
}

/**
 * Resumes an erasure that its process did not finish. A store that cannot finish it now still
 * opens.
 */
async function goOnErasing(store: PostgresStore): Promise<void> {
  try {
    await store.scrub();
  } catch (error) {
    // The erasure stays due, and the self check of the store reports it. The server may have no
    // second connection for the reads of an archive.
    if (!isAssizeError(error, 'store_not_scrubbed') && !isAssizeError(error, 'store_unreachable'))
      throw error;
  }
}

/** A store that writes looks for the primary among several servers. */
function targetOf({ servers, target }: StoreUrl, mode: OpenMode): Target {
  return target ?? (servers.length === 1 || mode === 'readonly' ? 'any' : 'read-write');
}

async function settle(
  options: PostgresOptions,
  { servers, schema }: StoreUrl,
): Promise<Omit<SessionOptions, 'url'>> {
  const settings = {
    driver: await loadDriver(),
    applicationName: options.applicationName ?? 'assize',
    lockTimeoutMs: options.lockTimeoutMs ?? LOCK_TIMEOUT_MS,
    statementTimeoutMs: options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
    connectTimeoutMs: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
  };
  checkInput(arg.wholeFrom(0, INT_MAX), settings.lockTimeoutMs, 'options.lockTimeoutMs');
  checkInput(COUNT, settings.statementTimeoutMs, 'options.statementTimeoutMs');
  checkInput(COUNT, settings.connectTimeoutMs, 'options.connectTimeoutMs');
  return { ...settings, path: pathOf(settings, servers, schema) };
}

/** The greatest setting of the server, and the greatest delay of a timer. */
const INT_MAX = 2 ** 31 - 1;
const COUNT = arg.wholeFrom(1, INT_MAX);

/** Names the store without user, password and settings. */
function pathOf(
  settings: Omit<SessionOptions, 'url' | 'path'>,
  servers: readonly string[],
  schema: string,
): string {
  const clients = servers.map((url) => clientOf({ ...settings, url, path: '' }));
  const { host, port, database = '' } = clients[0]!;
  if (host.startsWith('/'))
    return `postgres:///${database}?host=${host}&port=${port}&schema=${schema}`;
  const hosts = clients.map((client) => {
    const name = client.host.includes(':') ? `[${client.host}]` : client.host;
    return `${name}:${client.port}`;
  });
  return `postgres://${hosts.join(',')}/${database}?schema=${schema}`;
}

function clientOf(settings: SessionOptions): DriverClient {
  try {
    return newClient(settings);
  } catch (error) {
    // The error is not kept as a cause, because it can show the URL. Only the path of an unreadable
    // file is safe to show.
    const path = error instanceof Error && 'path' in error ? `: ${error.path} cannot be read` : '';
    throw badUrl(
      `the driver cannot read it${path}. Write it like postgres://user:password@host:5432/database`,
    );
  }
}

async function checkServer(session: Session, path: string): Promise<void> {
  const [row] = await session.run({
    text: "SELECT current_setting('server_version_num'), current_setting('server_version'), getdatabaseencoding()",
  });
  const [number, version, encoding] = row as [string, string, string];
  const fault =
    Number(number) < SERVER_VERSION_MIN
      ? `runs PostgreSQL ${version}. Use version 14 or later`
      : encoding !== 'UTF8'
        ? `stores text as ${encoding}. Create a database with ENCODING 'UTF8'`
        : undefined;
  if (fault !== undefined) {
    throw new StoreError('store_failed', `The server of ${path} ${fault}.`, {
      evidence: { path, version, encoding },
    });
  }
}
