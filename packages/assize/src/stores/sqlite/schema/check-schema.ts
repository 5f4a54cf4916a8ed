import type { DatabaseSync } from 'node:sqlite';
import { changedSchemaError } from '../../schema-version.ts';
import { openDatabase } from '../connection/database.ts';
import { migrate } from './migrate.ts';

/** A row of `sqlite_schema`. */
interface SchemaObject {
  readonly type: string;
  readonly name: string;
  readonly tbl_name: string;
  readonly sql: string | null;
}

/** The objects that the migrations make. */
interface Expected {
  readonly objects: readonly SchemaObject[];
  readonly tables: ReadonlySet<string>;
  /** The tables in which FTS5 keeps an index. Their SQL depends on the version of SQLite. */
  readonly shadows: ReadonlySet<string>;
}

let expected: Expected | undefined;

/**
 * The objects of the file that differ from the schema: a missing or changed table, view or trigger,
 * and an added trigger or unique index of a table of the schema. Each can drop or change rows that
 * are written. Other added objects are harmless, and so is an index that is missing.
 *
 * @throws SQLite's error
 */
export function schemaFaults(db: DatabaseSync): string[] {
  expected ??= readExpected();
  const { objects, tables, shadows } = expected;
  const found = new Map(readObjects(db).map((object) => [keyOf(object), object]));
  const faults: string[] = [];
  for (const object of objects) {
    const { type, name, sql } = object;
    const there = found.get(keyOf(object));
    found.delete(keyOf(object));
    if (type === 'index') continue;
    if (there === undefined) faults.push(`the ${type} ${name} is missing`);
    else if (there.sql !== sql && !shadows.has(name))
      faults.push(`the ${type} ${name} differs from the schema`);
  }
  for (const { type, name, tbl_name, sql } of found.values()) {
    if (!tables.has(tbl_name.toLowerCase())) continue;
    if (type === 'trigger')
      faults.push(`the trigger ${name} on ${tbl_name} is not part of the schema`);
    if (type === 'index' && sql?.startsWith('CREATE UNIQUE'))
      faults.push(`the unique index ${name} on ${tbl_name} is not part of the schema`);
  }
  return faults;
}

/** A trigger can have the name of a table. */
function keyOf({ type, name }: SchemaObject): string {
  return `${type} ${name}`;
}

/**
 * Throws `store_other_schema` if the schema of the file has faults. `path` names the store. A
 * later call compares again only after a change of the file's schema.
 */
export function prepareRequireSchema(db: DatabaseSync, path: string): () => void {
  const cookie = db.prepare('PRAGMA schema_version');
  let checked: unknown;
  return () => {
    const version = cookie.get()?.['schema_version'];
    if (version === checked) return;
    const faults = schemaFaults(db);
    if (faults.length > 0) throw changedSchemaError(path, faults);
    checked = version;
  };
}

function readExpected(): Expected {
  const db = openDatabase(':memory:');
  try {
    migrate(db);
    const all = readObjects(db);
    const shadows = db.prepare("SELECT name FROM pragma_table_list WHERE type = 'shadow'").all();
    return {
      objects: all,
      tables: new Set(all.map(({ tbl_name }) => tbl_name)),
      shadows: new Set(shadows.map(({ name }) => name as string)),
    };
  } finally {
    db.close();
  }
}

function readObjects(db: DatabaseSync): readonly SchemaObject[] {
  const rows = db.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema').all();
  return rows as unknown as readonly SchemaObject[];
}
