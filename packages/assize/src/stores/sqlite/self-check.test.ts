import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ALICE, changeOf, contentOf, day, keyOfRow } from '@assize/testing/internal/fact-rows.ts';
import { interceptSql } from '@assize/testing/internal/intercept.ts';
import { batchOf, blobOf } from '@assize/testing/internal/store-rows.ts';
import { afterAll, expect, test, vi } from 'vitest';
import { openUnguarded } from '../../../../../tests/support/ledger/unguarded.ts';
import { openSqlite } from './open.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-self-check-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('texts and vectors that are not as the facts say are found', async () => {
  const path = join(folder, 'not-as-said.db');
  const store = await openSqlite({ path });
  const facts = ['gone', 'kept', 'counted', 'elsewhere', 'short', 'strange', 'erased'].map(
    (object) => changeOf({ ...ALICE, subject: object }, 1, 10, [{ fact_id: object, object }]),
  );
  await store.commit({ ...batchOf([]), facts });
  // Nothing is indexed yet. That is not a fault.
  expect(await store.selfCheck()).toEqual([]);
  const texts = await store.textsToEmbed('m', ALICE.space, 100);
  await store.putVectors(
    'm',
    texts.map(({ id }) => ({ id, vector: new Float32Array([3, 4]) })),
  );
  await store.commit({
    ...batchOf([]),
    erased: [{ hash: contentOf('erased').hash, by: blobOf('by').hash }],
  });
  await store.scrub();
  expect(await store.selfCheck()).toEqual([]);
  const db = new DatabaseSync(path);
  const of = (object: string): string =>
    `(SELECT t.id FROM fact_text AS t JOIN fact AS f ON f.key = t.key WHERE f.object = '${object}' AND t.audit = 0)`;
  db.exec(`INSERT INTO fact_text (key, content, audit, day, space, words)
      SELECT key, content, 1, '', space, 1 FROM fact_text WHERE id = ${of('kept')};
    INSERT INTO fact_text (key, content, audit, day, space, words)
      SELECT key, content, audit, day, space, 1 FROM fact_text WHERE id = ${of('short')};
    INSERT INTO fact_words (rowid, words, key, length) SELECT id, ' 1_kept ', key, 1 FROM fact_text
      WHERE id NOT IN (SELECT rowid FROM fact_words);
    UPDATE fact_text SET words = words - 1 WHERE id = ${of('counted')};
    UPDATE fact_text SET space = 99 WHERE id = ${of('elsewhere')};
    UPDATE fact_vector SET vector = zeroblob(4) WHERE text = ${of('short')};
    UPDATE fact_vector SET embedder = 99 WHERE text = ${of('strange')};
    DELETE FROM fact_words WHERE rowid = ${of('gone')};
    DELETE FROM fact_text WHERE id = ${of('gone')}`);
  db.close();
  expect(await store.selfCheck()).toEqual([
    '2 spaces have a wrong text count',
    '1 texts of facts have a wrong word count',
    '1 facts have no search text; rebuild them: assize memory rebuild',
    '1 texts belong to no fact; rebuild them: assize memory rebuild',
    '1 texts are stored more than once; rebuild them: assize memory rebuild',
    '1 texts of facts are indexed in a wrong space; rebuild them: assize memory rebuild',
    '1 vectors belong to no text',
    '2 vectors have no embedder, or other dimensions than their embedder; rebuild them: assize memory rebuild',
  ]);
  await store.close();
});

test('partitions that are not as their rows say are found', async () => {
  const path = join(folder, 'check.db');
  const store = await openSqlite({ path });
  for (const subject of ['alice', 'bob', 'carol', 'dave', 'erin']) {
    const partition = { ...ALICE, subject };
    const first = changeOf(partition, 1, 10, [{ fact_id: subject, valid_to: day(5) }]);
    const second = changeOf(partition, 2, 20, [{ fact_id: `${subject} too`, valid_from: day(5) }]);
    const third = changeOf(partition, 3, 30, [], second.insert.map(keyOfRow));
    for (const change of [first, second, third])
      await store.commit({ ...batchOf([]), facts: [change] });
  }
  // The predicate now has several values, but earlier facts are single-valued.
  const several = { cardinality: 'multi-valued' } as const;
  const fourth = changeOf({ ...ALICE, subject: 'erin' }, 4, 40, [
    { fact_id: 'erin as well', ...several },
  ]);
  await store.commit({ ...batchOf([]), facts: [fourth] });
  expect(await store.selfCheck()).toEqual([]);
  const db = openUnguarded(path);
  db.exec(`UPDATE fact_partition SET version = 1 WHERE subject = 'alice';
    UPDATE fact_partition SET latest = '${day(29)}' WHERE subject = 'bob';
    UPDATE fact SET valid_from = '${day(3)}' WHERE fact_id IN ('carol too', 'erin too');
    UPDATE fact_time SET system_end = '9999-12-31T00:00:00.000000Z', valid_from = '${day(3)}'
      WHERE n IN (SELECT n FROM fact WHERE fact_id IN ('carol too', 'erin too'));
    DELETE FROM fact_partition WHERE subject = 'dave';
    DELETE FROM fact_version WHERE fact_id = 'bob';
    INSERT INTO fact_object (text) VALUES ('nobody says it');
    DELETE FROM fact_rebuild`);
  db.close();
  expect(await store.selfCheck()).toEqual([
    '2 facts belong to no partition',
    '2 versions of facts belong to no partition',
    '1 versions of facts are at a wrong position',
    '1 long objects belong to no fact, or are missing',
    'the facts of ["clinic","alice","medication"] do not fit the version or the latest change of their partition',
    'the facts of ["clinic","bob","medication"] do not fit the version or the latest change of their partition',
    'the facts of ["clinic","carol","medication"] overlap, although the predicate is single-valued',
    'the facts of ["clinic","erin","medication"] overlap, although the predicate is single-valued',
    'the facts are incomplete; rebuild them: assize memory rebuild',
  ]);
  await store.close();
});

/** The query plan of a statement: its steps and their parents. */
function planOf(
  db: DatabaseSync,
  sql: string,
): { readonly id: number; readonly parent: number; readonly detail: string }[] {
  return db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as unknown as ReturnType<typeof planOf>;
}

test('one of many values with one start is closed without reading the others', async () => {
  const path = join(folder, 'many.db');
  const store = await openSqlite({ path });
  const ids = ['a'.repeat(64), 'b'.repeat(64), `${'b'.repeat(63)}c`];
  const rows = ids.map((fact_id) => ({ fact_id, cardinality: 'multi-valued' as const }));
  const first = changeOf(ALICE, 1, 10, rows);
  await store.commit({ ...batchOf([]), facts: [first] });
  const closing: string[] = [];
  interceptSql((sql, proceed) => {
    if (sql.startsWith('UPDATE fact_time SET system_end')) closing.push(sql);
    return proceed();
  });
  const second = changeOf(ALICE, 2, 11, [], [keyOfRow(first.insert[1]!)]);
  await store.commit({ ...batchOf([]), facts: [second] });
  vi.restoreAllMocks();
  expect((await store.partition(ALICE))?.open).toEqual([first.insert[0], first.insert[2]]);
  await store.close();
  const db = new DatabaseSync(path, { readOnly: true });
  expect(closing.map((sql) => planOf(db, sql).map(({ detail }) => detail))).toEqual([
    [
      'SEARCH fact_time USING PRIMARY KEY (key=? AND audit=? AND system_end=? AND valid_from=? AND id_start=?)',
      'CORRELATED SCALAR SUBQUERY 1',
      'SEARCH f USING INTEGER PRIMARY KEY (rowid=?)',
    ],
  ]);
  db.close();
});

test('duplicate facts and unmatched facts, versions and long objects are found', async () => {
  const path = join(folder, 'twice.db');
  const store = await openSqlite({ path });
  const long = 'much to say, '.repeat(30);
  const subjects = ['twice', 'thrice', 'no fact', 'no version', 'no object', 'whole'];
  const facts = subjects.map((subject) =>
    changeOf({ ...ALICE, subject }, 1, 10, [{ fact_id: subject, object: long }]),
  );
  await store.commit({ ...batchOf([]), facts });
  expect(await store.selfCheck()).toEqual([]);
  const db = openUnguarded(path);
  const names = db
    .prepare("SELECT group_concat(name) AS names FROM pragma_table_info('fact') WHERE name <> 'n'")
    .get()!;
  const again = (ids: string): string =>
    `INSERT INTO fact (${names['names']}) SELECT ${names['names']} FROM fact WHERE fact_id IN (${ids})`;
  db.exec(`${again("'twice', 'thrice'")}; ${again("'thrice'")};
    INSERT INTO fact_time SELECT key, audit, '9999-12-31T00:00:00.000000Z', valid_from, substr(fact_id, 1, 8), n
      FROM fact WHERE n NOT IN (SELECT n FROM fact_time);
    DELETE FROM fact_time WHERE n = (SELECT n FROM fact WHERE fact_id = 'no fact');
    DELETE FROM fact WHERE fact_id = 'no fact';
    DELETE FROM fact_version WHERE fact_id = 'no version';
    DELETE FROM fact_object WHERE id = (SELECT long FROM fact WHERE fact_id = 'no object')`);
  db.close();
  expect(await store.selfCheck()).toEqual([
    '2 versions of facts are at a wrong position',
    '4 facts are stored more than once; rebuild them: assize memory rebuild',
    '2 long objects belong to no fact, or are missing',
    'the facts of ["clinic","twice","medication"] overlap, although the predicate is single-valued',
    'the facts of ["clinic","thrice","medication"] overlap, although the predicate is single-valued',
  ]);
  await store.close();
});

test('facts missing from the index of ends, and ends without a fact, are found', async () => {
  const path = join(folder, 'ends.db');
  const store = await openSqlite({ path });
  const subjects = ['whole', 'no end', 'two ends', 'no fact', 'of another', 'from another time'];
  const facts = subjects.map((subject) =>
    changeOf({ ...ALICE, subject }, 1, 10, [{ fact_id: subject }]),
  );
  await store.commit({ ...batchOf([]), facts });
  expect(await store.selfCheck()).toEqual([]);
  const db = openUnguarded(path);
  const of = (subject: string): string =>
    `WHERE n = (SELECT n FROM fact WHERE fact_id = '${subject}')`;
  db.exec(`DELETE FROM fact_time ${of('no end')};
    INSERT INTO fact_time SELECT key, audit, '2030-01-01T00:00:00.000000Z', valid_from, id_start, n FROM fact_time ${of('two ends')};
    INSERT INTO fact_time SELECT key, audit, system_end, valid_from, id_start, 99 FROM fact_time ${of('no fact')};
    UPDATE fact_time SET id_start = 'other' ${of('of another')};
    UPDATE fact_time SET valid_from = '${day(3)}' ${of('from another time')}`);
  db.close();
  expect(await store.selfCheck()).toEqual([
    '7 facts are missing in the index of ends, or ends belong to no fact; rebuild them: assize memory rebuild',
    'the facts of ["clinic","two ends","medication"] do not fit the version or the latest change of their partition',
  ]);
  await store.close();
});

test('a self-check compares no whole tables, nor texts with a whole partition', async () => {
  const path = join(folder, 'plans.db');
  const store = await openSqlite({ path });
  const asked: string[] = [];
  interceptSql((sql, proceed) => {
    if (sql.startsWith('SELECT')) asked.push(sql);
    return proceed();
  });
  await store.selfCheck();
  vi.restoreAllMocks();
  await store.close();
  expect(asked.length).toBeGreaterThan(20);
  const db = new DatabaseSync(path, { readOnly: true });
  for (const sql of asked) {
    const plan = planOf(db, sql);
    // The table `fact_rebuild` has one row, so its scan is allowed.
    const scans = plan.filter(
      ({ detail }) => detail.startsWith('SCAN') && !detail.startsWith('SCAN fact_rebuild'),
    );
    const correlated = new Set(
      plan.filter(({ detail }) => detail.startsWith('CORRELATED')).map(({ id }) => id),
    );
    const walks = plan.filter(
      ({ parent, detail }) => correlated.has(parent) && /^SCAN|SEARCH (e|fact_time) /.test(detail),
    );
    expect(new Set(scans.map(({ parent }) => parent)).size, sql).toBe(scans.length);
    expect(walks, sql).toEqual([]);
  }
  db.close();
});
