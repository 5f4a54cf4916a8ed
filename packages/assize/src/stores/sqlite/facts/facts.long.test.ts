import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { exportFacts } from '@assize/testing/internal/fact-model.ts';
import {
  ALICE,
  changeOf,
  contentOf,
  day,
  keyOfRow,
  namesOf,
} from '@assize/testing/internal/fact-rows.ts';
import { factStoreSuite } from '@assize/testing/internal/fact-store-suite.ts';
import { interceptSql, sqliteError } from '@assize/testing/internal/intercept.ts';
import { batchOf, blobOf, entryAfter } from '@assize/testing/internal/store-rows.ts';
import { afterAll, expect, test, vi } from 'vitest';
import { cases } from '../../../../../../tests/support/cases.ts';
import { openSqlite } from '../open.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-facts-'));
afterAll(() => rmSync(folder, { recursive: true }));

factStoreSuite({
  name: 'sqlite',
  open: (place) => openSqlite({ path: join(folder, `${place}.db`) }),
  runs: cases,
});
const COMMITTED = { status: 'committed' };
const BOB = { ...ALICE, subject: 'bob' };

test('a batch that is rolled back leaves nothing in memory of its facts', async () => {
  const store = await openSqlite({ path: join(folder, 'back.db') });
  const root = entryAfter(undefined, 't');
  await store.commit(batchOf(root));
  const first = changeOf(ALICE, 1, 10, [{ fact_id: 'a' }]);
  const second = changeOf(ALICE, 2, 11, [{ fact_id: 'b' }], first.insert.map(keyOfRow));
  // Only the insert detects the duplicate id, after the facts of the same group are written.
  const copy = { ...entryAfter(undefined, 'u'), id: root.id };
  const answers = await Promise.all([
    store.commit({ ...batchOf([]), facts: [first] }),
    store.commit({ ...batchOf(copy), facts: [second] }),
    store.commit({ ...batchOf([]), facts: [{ ...second, close: [], insert: [] }] }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(['committed', 'conflict', 'committed']);
  expect(await store.partition(ALICE)).toMatchObject({
    version: 2,
    latest: day(11),
    open: first.insert,
  });
  await store.close();
});

test('a partition above the cache limit is not reread after writes of others', async () => {
  const store = await openSqlite({ path: join(folder, 'large.db') });
  const put = async (...facts: ReturnType<typeof changeOf>[]): Promise<void> =>
    expect(await store.commit({ ...batchOf([]), facts })).toEqual(COMMITTED);
  const said = (n: number) => ({
    fact_id: `f${n}`,
    object: 'so',
    cardinality: 'multi-valued' as const,
  });
  await put(
    changeOf(
      ALICE,
      1,
      10,
      Array.from({ length: 100_001 }, (_, n) => said(n)),
    ),
  );
  let read = 0;
  interceptSql((_, proceed) => {
    const answer = proceed();
    if (Array.isArray(answer) && answer.length > 100_000) read += 1;
    return answer;
  });
  for (let n = 2; n < 6; n++) {
    await put(changeOf({ ...BOB, subject: `bob ${n}` }, 1, 10, [{ fact_id: `b${n}` }]));
    await put(changeOf(ALICE, n, 9 + n, [said(100_000 + n)]));
  }
  vi.restoreAllMocks();
  expect(read).toBe(0);
  expect((await store.partition(ALICE))?.version).toBe(5);
  await store.close();
});

test('a row with an end at another position is damage: no row is written there', async () => {
  const path = join(folder, 'astray.db');
  const store = await openSqlite({ path });
  const first = changeOf(ALICE, 1, 10, [{ fact_id: 'a' }]);
  const root = entryAfter(undefined, 't');
  await store.commit({ ...batchOf(root), facts: [first] });
  await store.close();
  const db = new DatabaseSync(path);
  db.exec("UPDATE fact_time SET id_start = 'other'");
  db.close();
  const again = await openSqlite({ path });
  const second = changeOf(ALICE, 2, 11, [{ fact_id: 'b' }], first.insert.map(keyOfRow));
  const answer = await again.commit({ ...batchOf(entryAfter(root, 't')), facts: [second] });
  expect(answer).toMatchObject({ status: 'unknown', cause: { code: 'store_poisoned' } });
  await again.close().catch(() => undefined);
  const third = await openSqlite({ path });
  expect(await third.head('t')).toMatchObject({ id: root.id });
  expect(await third.partition(ALICE)).toMatchObject({ version: 1, open: first.insert });
  await third.close();
});

test('refused fact changes cost their group no rollback, in one transaction', async () => {
  const store = await openSqlite({ path: join(folder, 'group.db') });
  const ran: string[] = [];
  interceptSql((sql, proceed) => {
    if (/^(COMMIT|ROLLBACK)/.test(sql)) ran.push(sql);
    return proceed();
  });
  const first = changeOf(ALICE, 1, 10, [{ fact_id: 'a' }]);
  const misuse = changeOf(ALICE, 2, 10, []);
  const answers = await Promise.allSettled(
    [[first], [first], [misuse], [changeOf(BOB, 1, 10, [{ fact_id: 'b' }])]].map((facts) =>
      store.commit({ ...batchOf([]), facts }),
    ),
  );
  vi.restoreAllMocks();
  expect(answers).toMatchObject([
    { value: COMMITTED },
    { value: { status: 'outdated' } },
    { reason: { code: 'store_invalid_input' } },
    { value: COMMITTED },
  ]);
  expect(ran).toEqual(['COMMIT']);
  await store.close();
});

test('a rebuilding that is refused poisons nothing', async () => {
  const store = await openSqlite({ path: join(folder, 'refused.db') });
  async function* pages() {
    yield [changeOf(ALICE, 2, 10, [])];
  }
  await expect(store.rebuildFacts(pages())).rejects.toMatchObject({ code: 'store_invalid_input' });
  expect(await store.commit(batchOf(entryAfter(undefined, 't')))).toEqual(COMMITTED);
  expect(await store.selfCheck()).toEqual([
    'the facts are incomplete; rebuild them: assize memory rebuild',
  ]);
  await store.close();
});

test('facts are rebuilt in small transactions', async () => {
  const store = await openSqlite({ path: join(folder, 'pages.db'), durability: 'off' });
  const changes = Array.from({ length: 3_000 }, (_, n) =>
    changeOf({ ...ALICE, subject: `${n}` }, 1, 10, [
      { fact_id: `${n}`, object: 'x'.repeat(n % 500) },
    ]),
  );
  for (let at = 0; at < changes.length; at += 1_000)
    await store.commit({ ...batchOf([]), facts: changes.slice(at, at + 1_000) });
  const before = await exportFacts(store);
  let written = 0;
  const each: number[] = [];
  interceptSql((sql, proceed) => {
    if (sql.startsWith('INSERT INTO fact ')) written += 1;
    if (sql === 'COMMIT') each.push(written);
    return proceed();
  });
  async function* pages() {
    yield changes;
  }
  await store.rebuildFacts(pages());
  vi.restoreAllMocks();
  expect(Math.max(...each.map((count, n) => count - (each[n - 1] ?? 0)))).toBeLessThan(1_000);
  expect(await exportFacts(store)).toEqual(before);
  expect(await store.selfCheck()).toEqual([]);
  await store.close();
});

test('no file of the store contains an erased value', async () => {
  const path = join(folder, 'erased.db');
  const store = await openSqlite({ path });
  const who = { space: 'ward', subject: 'Quintessa', predicate: 'allergy' };
  const first = changeOf(who, 1, 10, [{ fact_id: 'a', object: 'sesquipedalian' }]);
  const blobs = [blobOf('sesquipedalian'), blobOf(JSON.stringify(Object.values(who)))];
  await store.commit({ ...batchOf(entryAfter(undefined, 't'), blobs), facts: [first] });
  const said = (): boolean[] =>
    [path, `${path}-wal`].map((file) =>
      /sesquipedalian|Quintessa/.test(readFileSync(file, 'latin1')),
    );
  expect(said()).toContain(true);
  const erased = [contentOf('sesquipedalian').hash, namesOf(who).hash].map((hash) => ({
    hash,
    by: blobOf('by').hash,
  }));
  expect(await store.commit({ ...batchOf([]), erased })).toEqual(COMMITTED);
  await store.scrub();
  expect(said()).toEqual([false, false]);
  await store.close();
});

test('people with a SQL shell find the twelve columns of a fact', async () => {
  const path = join(folder, 'shell.db');
  const store = await openSqlite({ path });
  await store.commit({
    ...batchOf([]),
    facts: [changeOf(ALICE, 1, 10, [{ fact_id: 'a', confidence: 0.5 }])],
  });
  const db = new DatabaseSync(path, { readOnly: true });
  expect(db.prepare('SELECT * FROM facts').all()).toEqual([
    {
      fact_id: 'a',
      subject: 'alice',
      predicate: 'medication',
      object: 'says a',
      valid_from: day(1),
      valid_to: '9999-12-31T00:00:00.000000Z',
      system_time_start: day(10),
      system_time_end: '9999-12-31T00:00:00.000000Z',
      provenance_id: 'w:@0',
      confidence: 0.5,
      resolution_strategy_id: 'lww',
      row_kind: 'current',
    },
  ]);
  db.close();
  await store.close();
});

/** The value of a column in a row next to the first one, if it must differ. */
const ELSEWHERE: { readonly [column: string]: string } = { fact_id: "'b'", n: 'NULL' };

test('the tables refuse rows that violate Table 12', async () => {
  const path = join(folder, 'constraints.db');
  const store = await openSqlite({ path });
  await store.commit({ ...batchOf([]), facts: [changeOf(ALICE, 1, 10, [{ fact_id: 'a' }])] });
  await store.close();
  const db = new DatabaseSync(path);
  const twice = (change: string) => () =>
    db.exec(`INSERT INTO fact SELECT ${change} FROM fact WHERE fact_id = 'a'`);
  const columns = db
    .prepare("SELECT name FROM pragma_table_info('fact')")
    .all()
    .map(({ name }) => String(name));
  const withColumn = (column: string, value: string) =>
    twice(columns.map((name) => (name === column ? value : (ELSEWHERE[name] ?? name))).join());
  for (const [column, value] of [
    ['confidence', '1.5'],
    ['confidence', '-0.1'],
    ['audit', '2'],
    ['valid_to', 'valid_from'],
  ] as const)
    expect(withColumn(column, value), column).toThrow(/CHECK constraint failed/);
  expect(twice('*')).toThrow(/UNIQUE constraint failed/);
  const endsAt = (time: string) =>
    `system_end = (SELECT ${time} FROM fact WHERE fact.n = fact_time.n)`;
  for (const time of ["'2000-01-01T00:00:00.000000Z'", 'system_start'])
    expect(() => db.exec(`UPDATE fact_time SET ${endsAt(time)}`), time).toThrow(
      /CHECK constraint failed/,
    );
  const ended = `INSERT INTO fact_time SELECT key, audit, system_start, valid_from, 'other', n FROM fact`;
  expect(() => db.exec(ended)).toThrow(/CHECK constraint failed/);
  expect(() => db.exec('INSERT INTO fact_version SELECT * FROM fact_version')).toThrow(
    /UNIQUE constraint failed/,
  );
  withColumn('confidence', '0.5')();
  db.close();
});

test('a store that is only read has facts and takes none', async () => {
  const path = join(folder, 'read.db');
  const store = await openSqlite({ path });
  const change = changeOf(ALICE, 1, 10, [{ fact_id: 'a' }]);
  await store.commit({ ...batchOf([]), facts: [change] });
  await store.close();
  const reader = await openSqlite({ path, mode: 'readonly' });
  expect(await reader.facts({ space: ALICE.space })).toEqual(change.insert);
  async function* pages() {}
  for (const call of [
    () => reader.rebuildFacts(pages()),
    () => reader.commit({ ...batchOf([]), facts: [change] }),
  ])
    await expect(call()).rejects.toMatchObject({ code: 'store_readonly' });
  await reader.close();
});

test('a read that fails leaves the store as it is', async () => {
  const store = await openSqlite({ path: join(folder, 'failed.db') });
  await store.commit({ ...batchOf([]), facts: [changeOf(ALICE, 1, 10, [{ fact_id: 'a' }])] });
  for (const at of [1, 2]) {
    let count = 0;
    interceptSql((_, proceed) => {
      count += 1;
      if (count === at) throw sqliteError(10);
      return proceed();
    });
    await expect(store.facts({ ...ALICE, valid: day(1), system: day(9) })).rejects.toMatchObject({
      code: 'store_failed',
    });
    vi.restoreAllMocks();
    expect(await store.commit(batchOf(entryAfter(undefined, `t${at}`)))).toEqual(COMMITTED);
  }
  await store.close();
});

test('stores long objects beside their rows, and reads and erases them', async () => {
  const path = join(folder, 'long.db');
  const long = (fact_id: string): string =>
    `${fact_id} has much to say, ${'again and again, '.repeat(20)}`;
  const first = changeOf(ALICE, 1, 10, [
    { fact_id: 'a', object: long('a'), valid_to: day(5) },
    { fact_id: 'b', valid_from: day(5) },
  ]);
  const second = changeOf(
    ALICE,
    2,
    20,
    [{ fact_id: 'c', object: long('c'), valid_to: day(5) }],
    [keyOfRow(first.insert[0]!)],
  );
  const store = await openSqlite({ path });
  const said = [...first.insert, ...second.insert].map(({ object }) => blobOf(object));
  for (const change of [first, second])
    await store.commit({ ...batchOf([]), blobs: said, facts: [change] });
  const facts = await store.facts({ space: ALICE.space, kind: 'all' });
  expect(facts.map(({ object }) => object).sort()).toEqual([long('a'), long('c'), 'says b'].sort());
  expect(await store.selfCheck()).toEqual([]);
  const look = new DatabaseSync(path, { readOnly: true });
  expect(look.prepare('SELECT long, object FROM fact ORDER BY fact_id').all()).toEqual([
    { long: expect.any(Number), object: '' },
    { long: null, object: 'says b' },
    { long: expect.any(Number), object: '' },
  ]);
  expect(look.prepare('SELECT object FROM facts ORDER BY fact_id').all()).toEqual(
    ['a', 'b', 'c'].map((id) => ({ object: facts.find(({ fact_id }) => fact_id === id)!.object })),
  );
  look.close();
  const { content } = facts.find(({ fact_id }) => fact_id === 'c')!;
  const root = entryAfter(undefined, 't');
  await store.commit({ ...batchOf(root), erased: [{ hash: content.hash, by: root.id }] });
  await store.scrub();
  expect(
    (await store.facts({ space: ALICE.space, kind: 'all' })).map(({ object }) => object),
  ).toEqual(
    facts.map((row) => (row.fact_id === 'c' ? `{"$erased":"${content.hash}"}` : row.object)),
  );
  await store.close();
  for (const file of [path, `${path}-wal`])
    if (existsSync(file)) expect(readFileSync(file).includes('c has much to say')).toBe(false);
});
