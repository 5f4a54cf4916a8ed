import { StoreError } from 'assize/internal/stores/errors.ts';
import type { OpenMode } from 'assize/internal/stores/options.ts';
import { checkVersion, migrationsIn, versionAfter } from 'assize/internal/stores/schema-version.ts';
import type { Session } from '../connection/session.ts';
import { schema as schemaSql } from './0001-schema.ts';
import { archive } from './0002-archive.ts';
import { appendOne } from './0003-append-one.ts';
import { seals } from './0004-seals.ts';

/**
 * The first key of every advisory lock of a store: `ASZE`, as a number. The second key names the
 * lock.
 */
export const APPLICATION_ID = 0x41535a45;

/** Every migration, in order. A released migration never changes. */
export const MIGRATIONS: readonly string[] = [schemaSql, archive, appendOne, seals];

/** The schema version that this program reads and writes; in the table `mark`. */
export const SCHEMA_VERSION: number = versionAfter(MIGRATIONS.length);

/** The object under the store's name in the database. */
export type Mark =
  /** No schema, or an empty one. */
  | { readonly is: 'absent' | 'empty' }
  /** A schema that is not a store. */
  | { readonly is: 'foreign' }
  | { readonly is: 'ours'; readonly version: number };

/** Reads the mark of a schema without changing the schema. */
export async function readMark(session: Session, schema: string): Promise<Mark> {
  const [found] = await session.run({ text: LOOK }, [schema]);
  if (found === undefined) return { is: 'absent' };
  const [things, columns] = found;
  if (Number(things) === 0) return { is: 'empty' };
  if (Number(columns) !== 2) return { is: 'foreign' };
  const rows = await session.run({ text: `SELECT application, version FROM "${schema}".mark` });
  const [application, version] = rows[0] ?? [];
  return rows.length === 1 && application === 'assize'
    ? { is: 'ours', version: Number(version) }
    : { is: 'foreign' };
}

/**
 * Throws unless a store with this mark can be used in this mode, after a migration if it needs one.
 */
export function checkMark(
  mark: Mark,
  path: string,
  mode: OpenMode,
  supported: number = SCHEMA_VERSION,
): void {
  if (mark.is === 'foreign') {
    throw new StoreError(
      'store_other_schema',
      `The schema of ${path} has tables of another program. Name another schema with ?schema= in the URL.`,
      { evidence: { path } },
    );
  }
  if (mark.is !== 'ours') {
    if (mode === 'create') return;
    throw new StoreError(
      'store_not_found',
      `There is no store at ${path}. Check the URL, or open it with mode create.`,
      { evidence: { path } },
    );
  }
  checkVersion(path, mark.version, supported, mode);
}

/**
 * Creates the schema, or runs the migrations that the store lacks, in one transaction. Concurrent
 * callers wait for each other.
 *
 * @throws {StoreError} the errors of `checkMark`
 */
export async function migrate(
  session: Session,
  schema: string,
  path: string,
  mode: OpenMode,
  migrations: readonly string[] = MIGRATIONS,
): Promise<void> {
  // Overrides the server's default: reads after the lock must see the state at that time.
  await session.run({
    text: 'BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = 0',
  });
  try {
    await session.run({ text: 'SELECT pg_advisory_xact_lock($1, hashtext($2))' }, [
      APPLICATION_ID,
      schema,
    ]);
    // Read again under the lock: another program may have migrated the schema while this one
    // waited.
    const mark = await readMark(session, schema);
    checkMark(mark, path, mode, versionAfter(migrations.length));
    await session.run({ text: statements(mark, schema, migrations).join('\n') });
    await session.run({ text: 'COMMIT' });
  } catch (error) {
    if (session.isOpen) await session.run({ text: 'ROLLBACK' });
    throw error;
  }
}

function statements(mark: Mark, schema: string, migrations: readonly string[]): string[] {
  const isNew = mark.is !== 'ours';
  const missing = migrations.slice(isNew ? 0 : migrationsIn(mark.version));
  if (missing.length === 0) return [];
  return [
    // Not IF NOT EXISTS: that needs the right to create a schema even if the schema exists.
    ...(mark.is === 'absent' ? [`CREATE SCHEMA "${schema}";`] : []),
    `SET LOCAL search_path TO "${schema}", pg_temp;`,
    // As in a dump of pg_dump: a function may call a function that a later statement creates.
    'SET LOCAL check_function_bodies = off;',
    ...(isNew ? ['CREATE TABLE mark (application TEXT NOT NULL, version INTEGER NOT NULL);'] : []),
    ...(isNew ? ["INSERT INTO mark VALUES ('assize', 0);"] : []),
    ...missing,
    `UPDATE mark SET version = ${versionAfter(migrations.length)};`,
  ];
}

const LOOK = `
SELECT
  (SELECT count(*) FROM pg_class WHERE relnamespace = n.oid) +
  (SELECT count(*) FROM pg_proc WHERE pronamespace = n.oid) +
  (SELECT count(*) FROM pg_type WHERE typnamespace = n.oid),
  (SELECT count(*) FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
    WHERE c.relnamespace = n.oid AND c.relname = 'mark' AND a.attname IN ('application', 'version') AND NOT a.attisdropped)
FROM pg_namespace AS n WHERE n.nspname = $1`;
