import { DatabaseSync } from 'node:sqlite';
import { OPEN_END } from '../../src/memory/index.ts';
import { migrations } from '../../src/stores/postgres/schema/migrate.ts';
import { migrate } from '../../src/stores/sqlite/schema/migrate.ts';
import type { TestPostgres } from './postgres/index.ts';

// Stores as programs of older versions left them: with the rows that a store of today has, as far as their tables have columns for them.

/** Texts are left to be indexed. */
const UNINDEXED =
  'INSERT INTO fact_text_queue (key, system_start) SELECT DISTINCT key, system_start FROM fact ORDER BY 2, 1';

/** Objects stood all in their rows, before long ones stood beside them. */
const LONG_OR_SHORT = 'coalesce((SELECT text FROM today.fact_object WHERE id = long), object)';

/** When a row ended stood in it, before it stood beside it. */
const END =
  'SELECT e.system_end FROM today.fact_time AS e WHERE e.key = fact.key AND e.audit = fact.audit AND e.n = fact.n';

/** A partition had its version and its latest change in its row, before those that are open said them. */
const last = (stored: string, open: string): string => `SELECT max(${stored}, coalesce(max(f.${open}), ${stored}))
  FROM today.fact_time AS e JOIN today.fact AS f ON f.n = e.n
  WHERE e.key = fact_partition.key AND e.audit = 0 AND e.system_end = '${OPEN_END}'`;

/** Of a file that is closed. */
export function olderSqlite(from: string, to: string, version: number): void {
  const db = new DatabaseSync(to);
  migrate(db, version);
  db.prepare('ATTACH ? AS today').run(from);
  const names = (schema: string, sql: string): string[] =>
    db
      .prepare(sql.replaceAll('SCHEMA', schema))
      .all()
      .map(({ name }) => String(name));
  const tables = names(
    'main',
    "SELECT name FROM SCHEMA.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
  );
  for (const table of tables.filter((name) => !/^fact_(text|word)/.test(name))) {
    const columns = names('main', `SELECT name FROM pragma_table_info('${table}', 'SCHEMA')`);
    const values = columns.map((column) => {
      const isMoved = table === 'fact' && column === 'object' && !tables.includes('fact_object');
      if (isMoved) return LONG_OR_SHORT;
      if (tables.includes('fact_time')) return column;
      if (table === 'fact' && column === 'system_end') return `(${END})`;
      if (table === 'fact_partition' && column === 'version') return `(${last('version', 'seq')})`;
      if (table === 'fact_partition' && column === 'latest') return `(${last('latest', 'system_start')})`;
      return column;
    });
    db.exec(`DELETE FROM main.${table}; INSERT INTO main.${table} (${columns}) SELECT ${values} FROM today.${table}`);
  }
  if (tables.includes('fact_text_queue')) db.exec(UNINDEXED);
  db.exec('DETACH today; PRAGMA journal_mode = WAL');
  db.close();
}

/** Of a store that nobody writes to. */
export async function olderPostgres(postgres: TestPostgres, from: string, to: string, version: number): Promise<void> {
  const [today, older] = [postgres.schemaOf(from), postgres.schemaOf(to)];
  await postgres.query(['BEGIN', ...migrations({ is: 'absent' }, older, version), 'COMMIT'].join(';\n'));
  const tables = await postgres.query(COLUMNS, [older]);
  const statements = tables.flatMap(({ name, columns, identity }) => [
    `DELETE FROM "${older}".${name}`,
    `INSERT INTO "${older}".${name} (${columns}) OVERRIDING SYSTEM VALUE SELECT ${columns} FROM "${today}".${name}`,
    ...(identity === null
      ? []
      : [
          `SELECT setval(pg_get_serial_sequence('"${older}".${name}', '${identity}'), max(${identity})) FROM "${older}".${name}`,
        ]),
  ]);
  // Rows that others refer to come in after them.
  await postgres.query(['BEGIN', 'SET LOCAL session_replication_role = replica', ...statements, 'COMMIT'].join(';\n'));
  if (version !== 8) return;
  const misnamed = await postgres.query(MISNAMED.replaceAll('SCHEMA', `"${older}"`));
  if (misnamed.length > 0) throw new Error(`version 8 had these otherwise: ${JSON.stringify(misnamed)}`);
}

const COLUMNS = `
SELECT c.table_name AS name, string_agg('"' || c.column_name || '"', ', ' ORDER BY c.ordinal_position) AS columns,
  max(c.column_name) FILTER (WHERE c.is_identity = 'YES') AS identity
FROM information_schema.columns AS c JOIN information_schema.tables AS t USING (table_schema, table_name)
WHERE c.table_schema = $1 AND t.table_type = 'BASE TABLE' AND c.table_name <> 'mark' GROUP BY c.table_name`;

/** Rows that are not found by what version 8 found them by. */
const MISNAMED = `
SELECT f.fact_id FROM SCHEMA.fact AS f JOIN SCHEMA.fact_partition AS p ON p.key = f.key
WHERE f.id <> sha256(convert_to(octet_length(f.fact_id) || ' ' || f.fact_id || f.system_start || p.space, 'UTF8'))
UNION ALL SELECT p.subject FROM SCHEMA.fact_partition AS p
WHERE p.hash <> sha256(convert_to('[' || to_json(p.space) || ',' || to_json(p.subject) || ',' || to_json(p.predicate) || ']', 'UTF8'))`;
