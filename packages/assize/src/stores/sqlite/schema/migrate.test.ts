import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { OPEN_END, OPEN_START } from '#memory';
import { versionAfter } from '../../schema-version.ts';
import { isText, TEXT_OF_ROW } from '../facts/fact-texts.ts';
import { TextWriter } from '../facts/text-writer.ts';
import { APPLICATION_ID, MIGRATIONS, migrate, readMark, SCHEMA_VERSION } from './migrate.ts';

/** A database of the current schema with one trajectory. */
function newDatabase(): DatabaseSync {
  const db = new DatabaseSync(':memory:');
  migrate(db);
  db.exec("INSERT INTO trajectory (name) VALUES ('t')");
  return db;
}

/** The statements of the schema, and the options of the full-text index. */
function schemaOf(db: DatabaseSync): readonly unknown[] {
  const statements = db
    .prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name')
    .all();
  return [statements, db.prepare('SELECT k, v FROM fact_words_config ORDER BY k').all()];
}

test('runs only the migrations that a store lacks', () => {
  const db = newDatabase();
  const before = schemaOf(db);
  migrate(db);
  expect(schemaOf(db)).toEqual(before);
  const more = [...MIGRATIONS, 'CREATE TABLE more (n); INSERT INTO more VALUES (1)'];
  for (const _ of [1, 2]) migrate(db, more);
  expect(readMark(db)).toEqual({
    applicationId: APPLICATION_ID,
    version: versionAfter(more.length),
  });
  expect(db.prepare('SELECT n, name FROM more, trajectory').all()).toEqual([{ n: 1, name: 't' }]);
  // A program with fewer migrations does not change the version.
  migrate(db);
  expect(readMark(db).version).toBe(versionAfter(more.length));
  db.close();
});

test('a migration that fails leaves the store unchanged', () => {
  const db = newDatabase();
  const before = schemaOf(db);
  expect(() =>
    migrate(db, [...MIGRATIONS, 'CREATE TABLE more (n); INSERT INTO none VALUES (1)']),
  ).toThrow(/none/);
  expect([db.isTransaction, readMark(db).version, schemaOf(db)]).toEqual([
    false,
    SCHEMA_VERSION,
    before,
  ]);
  db.close();
});

test('a reset of texts creates the tables as the schema has them', () => {
  const db = newDatabase();
  const before = schemaOf(db);
  db.exec(`INSERT INTO fact_text_space (name, texts, words) VALUES ('s', 1, 1);
    INSERT INTO fact_words (rowid, words) VALUES (1, ' 1_x '); INSERT INTO fact_text_queue VALUES (1, 1, '')`);
  new TextWriter(db).reset();
  expect(schemaOf(db)).toEqual(before);
  const left = `SELECT (SELECT count(*) FROM fact_text_space) + (SELECT count(*) FROM fact_words)
    + (SELECT count(*) FROM fact_text_queue) AS n`;
  expect(db.prepare(left).get()).toEqual({ n: 0 });
  db.close();
});

test('finds texts by the whole index of their names', () => {
  const db = newDatabase();
  const plan = db.prepare(
    `EXPLAIN QUERY PLAN SELECT t.id FROM fact AS f CROSS JOIN fact_text AS t ON ${isText('t', TEXT_OF_ROW)}`,
  );
  expect(plan.all().map(({ detail }) => detail)).toContain(
    'SEARCH t USING INDEX fact_text_name (key=? AND <expr>=? AND <expr>=?)',
  );
  db.close();
});

test('has the open ends of periods that the code has', () => {
  const [schema] = MIGRATIONS as readonly [string];
  const instants = new Set(schema.match(/'\d{4}-[^']*'/g));
  expect([...instants].sort()).toEqual([`'${OPEN_START}'`, `'${OPEN_END}'`]);
});
