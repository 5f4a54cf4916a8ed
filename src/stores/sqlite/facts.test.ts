import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { olderSqlite } from '../../../tests/support/older-store.ts';
import { exportFacts } from '../../testing/fact-model.ts';
import { ALICE, changeOf, contentOf, day, keyOfRow, namesOf } from '../../testing/fact-rows.ts';
import { factStoreSuite } from '../../testing/fact-store-suite.ts';
import { interceptSql, sqliteError } from '../../testing/intercept.ts';
import { batchOf, blobOf, entryAfter } from '../../testing/store-rows.ts';
import { PART } from './indexing.ts';
import { openSqlite } from './open.ts';
import { migrate } from './schema.ts';
import type { SqliteStore } from './store.ts';
import { TextWriter } from './text-writer.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-facts-'));
afterAll(() => rmSync(folder, { recursive: true }));

factStoreSuite({ name: 'sqlite', open: (place) => openSqlite({ path: join(folder, `${place}.db`) }) });

const COMMITTED = { status: 'committed' };
const BOB = { ...ALICE, subject: 'bob' };
/** From then on the file takes what no store may have. */
const UNGUARDED =
  'DROP TRIGGER fact_time_apart; DROP TRIGGER fact_time_apart_again; DROP TRIGGER fact_apart; DROP TRIGGER fact_partition_onwards';

test('a batch that is rolled back leaves nothing in memory of its facts', async () => {
  const store = await openSqlite({ path: join(folder, 'back.db') });
  const root = entryAfter(undefined, 't');
  await store.commit(batchOf(root));
  const first = changeOf(ALICE, 1, 10, [{ fact_id: 'a' }]);
  const second = changeOf(ALICE, 2, 11, [{ fact_id: 'b' }], first.insert.map(keyOfRow));
  // The id is found to be there only by the insert, when facts of the same group are written already.
  const copy = { ...entryAfter(undefined, 'u'), id: root.id };
  const answers = await Promise.all([
    store.commit({ ...batchOf([]), facts: [first] }),
    store.commit({ ...batchOf(copy), facts: [second] }),
    store.commit({ ...batchOf([]), facts: [{ ...second, close: [], insert: [] }] }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(['committed', 'conflict', 'committed']);
  expect(await store.partition(ALICE)).toMatchObject({ version: 2, latest: day(11), open: first.insert });
  await store.close();
});

test('a row that does not end where it stands is damage: nothing is written beside it', async () => {
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

test('changes of facts that are refused cost the others of their group no rollback, and all is one transaction', async () => {
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
  expect(await store.selfCheck()).toEqual(['the facts are incomplete; make them anew: assize memory rebuild']);
  await store.close();
});

test('facts are made anew in small transactions', async () => {
  const store = await openSqlite({ path: join(folder, 'pages.db'), durability: 'off' });
  const changes = Array.from({ length: 3_000 }, (_, n) =>
    changeOf({ ...ALICE, subject: `${n}` }, 1, 10, [{ fact_id: `${n}`, object: 'x'.repeat(n % 500) }]),
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

test('what was erased is in no file of the store', async () => {
  const path = join(folder, 'erased.db');
  const store = await openSqlite({ path });
  const who = { space: 'ward', subject: 'Quintessa', predicate: 'allergy' };
  const first = changeOf(who, 1, 10, [{ fact_id: 'a', object: 'sesquipedalian' }]);
  const blobs = [blobOf('sesquipedalian'), blobOf(JSON.stringify(Object.values(who)))];
  await store.commit({ ...batchOf(entryAfter(undefined, 't'), blobs), facts: [first] });
  const said = (): boolean[] =>
    [path, `${path}-wal`].map((file) => /sesquipedalian|Quintessa/.test(readFileSync(file, 'latin1')));
  expect(said()).toContain(true);
  const erased = [contentOf('sesquipedalian').hash, namesOf(who).hash].map((hash) => ({ hash, by: blobOf('by').hash }));
  expect(await store.commit({ ...batchOf([]), erased })).toEqual(COMMITTED);
  await store.scrub();
  expect(said()).toEqual([false, false]);
  await store.close();
});

test.each([1, 700])(
  'no byte of what was erased stays in the index of words, among vectors, or of what waits: %i texts',
  async (texts) => {
    const path = join(folder, `words-${texts}.db`);
    const store = await openSqlite({ path });
    const change = (n: number, object: string) =>
      changeOf({ ...ALICE, subject: `Quintessa${n}` }, 1, 10, [{ fact_id: `${n}`, object }]);
    const secrets = Array.from({ length: texts }, (_, n) => change(n, `sesquipedalian${n} Words`));
    const kept = Array.from({ length: 20 }, (_, n) =>
      changeOf({ ...ALICE, subject: `kept ${n}` }, 1, 10, [{ fact_id: `k${n}`, object: 'sesame' }]),
    );
    for (const facts of [secrets, kept]) await store.commit({ ...batchOf([]), facts });
    const given = await store.textsToEmbed('m', ALICE.space, 2_000);
    const vector = new Float32Array([0.1234567, 0.7654321]);
    await store.putVectors(
      'm',
      given.map(({ id }) => ({ id, vector })),
    );
    const late = change(-1, 'sesquipedalian waits');
    await store.commit({ ...batchOf([]), facts: [late] });
    const said = () => [path, `${path}-wal`].some((file) => /_(sesqui|quintess)/i.test(readFileSync(file, 'latin1')));
    expect(said()).toBe(true);
    const hashes = [...secrets, late].flatMap(({ names, insert }) => [names.hash, insert[0]!.content.hash]);
    await store.commit({ ...batchOf([]), erased: hashes.map((hash) => ({ hash, by: blobOf('by').hash })) });
    await store.scrub();
    expect(said()).toBe(false);
    expect((await store.factsByText({ space: ALICE.space, text: 'sesame' })).length).toBe(20);
    expect(await store.factsByText({ space: ALICE.space, text: 'sesquipedalian0 quintessa words' })).toEqual([]);
    expect(await store.selfCheck()).toEqual([]);
    await store.close();
    const db = new DatabaseSync(path);
    expect(db.prepare('SELECT count(*) AS n FROM fact_vector').get()).toEqual({ n: 20 });
    db.close();
  },
);

test.each(['nothing', 'others indexed it', 'a rollback', 'an erasure'])(
  'what waits to be indexed is in memory as it is in the file: after %s',
  async (event) => {
    const path = join(folder, `waits after ${event}.db`);
    const [store, other] = [await openSqlite({ path }), await openSqlite({ path })];
    const put = async (by: SqliteStore, ...facts: ReturnType<typeof changeOf>[]): Promise<void> =>
      expect(await by.commit({ ...batchOf([]), facts })).toEqual(COMMITTED);
    const first = changeOf(ALICE, 1, 10, [{ fact_id: 'a', object: 'secret' }]);
    await put(store, first, changeOf(BOB, 1, 10, [{ fact_id: 'c', object: 'third' }]));
    await put(store, changeOf(ALICE, 2, 11, [{ fact_id: 'b', object: 'second' }], first.insert.map(keyOfRow)));
    const next = changeOf({ ...ALICE, subject: 'carol' }, 1, 12, [{ fact_id: 'd', object: 'fourth' }]);
    if (event === 'others indexed it') {
      // What is written from then on has the numbers that these had.
      await other.textsToEmbed('m', ALICE.space, 10);
      await put(other, next);
    } else if (event === 'a rollback') {
      const root = entryAfter(undefined, 't');
      await store.commit(batchOf(root));
      const lost = changeOf({ ...ALICE, subject: 'dan' }, 1, 12, [{ fact_id: 'e', object: 'fifth' }]);
      const copy = { ...batchOf({ ...entryAfter(undefined, 'u'), id: root.id }), facts: [lost] };
      const written = put(store, next);
      expect(await store.commit(copy)).toMatchObject({ status: 'conflict' });
      await written;
    } else {
      await put(store, next);
      const erased = [contentOf('secret').hash, namesOf(BOB).hash].map((hash) => ({ hash, by: blobOf('by').hash }));
      if (event === 'an erasure') expect(await store.commit({ ...batchOf([]), erased })).toEqual(COMMITTED);
      await store.scrub();
    }
    await store.textsToEmbed('m', ALICE.space, 10);
    expect(await store.selfCheck()).toEqual([]);
    for (const each of [store, other]) await each.close();
    const db = new DatabaseSync(path);
    const texts = db.prepare(
      `SELECT p.subject, w.words FROM fact_words AS w JOIN fact_partition AS p ON p.key = w.key`,
    );
    const found = texts.all().map(({ subject, words }) => `${subject}: ${String(words).trim().split('1_').at(-1)}`);
    db.close();
    const said = ['alice: second', 'alice: secret', 'bob: third', 'carol: fourth'];
    expect(found.sort()).toEqual(event === 'an erasure' ? [said[0], said[3]] : said);
  },
);

test('of what waits to be indexed, what indexing needs is in memory, and no more of it than has room', async () => {
  const store = await openSqlite({ path: join(folder, 'room.db'), durability: 'off' });
  let n = 0;
  /** Of how many partitions what waited had to be read again. */
  const readFor = async (changes: number, rows: number, characters: number): Promise<number> => {
    for (let i = 0; i < changes; i += 1) {
      n += 1;
      const said = Array.from({ length: rows }, (_, row) => {
        const object = `${n}-${row}`.padEnd(characters, '.');
        return { fact_id: object.slice(0, 20), object, row_kind: 'audit' as const };
      });
      const facts = [changeOf({ ...ALICE, subject: `s${n}` }, 1, 10, said)];
      expect(await store.commit({ ...batchOf([]), facts })).toEqual(COMMITTED);
    }
    let read = 0;
    interceptSql((sql, proceed) => {
      if (sql === 'SELECT space, subject, predicate FROM fact_partition WHERE key = ?') read += 1;
      return proceed();
    });
    await store.textsToEmbed('m', ALICE.space, 1);
    vi.restoreAllMocks();
    return read;
  };
  expect(await readFor(20, 1, 10)).toBe(0);
  expect(await readFor(1, 1, 5 * 2 ** 20)).toBe(1);
  // Many short ones are no less.
  expect(await readFor(9, 1_000, 10)).toBeGreaterThan(0);
  expect(await readFor(5, 1, 2 ** 20)).toBe(2);
  // What was indexed takes up no room.
  expect(await readFor(3, 1, 2 ** 20)).toBe(0);
  expect(await store.selfCheck()).toEqual([]);
  await store.close();
});

test('what waits to be indexed holds no row, of which there may be more than is indexed', async () => {
  const db = new DatabaseSync(':memory:');
  migrate(db);
  const writer = new TextWriter(db);
  const enqueued = (): WeakRef<object> => {
    const [row] = changeOf(ALICE, 1, 10, [{ fact_id: 'a' }]).insert;
    writer.enqueue(1, day(10), ALICE, [row!]);
    return new WeakRef(row!);
  };
  const row = enqueued();
  // Until then it stays because it was asked for.
  await new Promise((resolve) => setImmediate(resolve));
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  expect(row.deref()).toBeUndefined();
  expect(writer.flush(10)).toBe(false);
  expect(db.prepare('SELECT count(*) AS n FROM fact_text').get()).toEqual({ n: 1 });
  db.close();
});

describe('of many changes no more wait to be indexed than are indexed at once', () => {
  /** Answers how many wait, as the file has it. */
  async function opened(name: string) {
    const path = join(folder, `${name}.db`);
    const [store, db] = [await openSqlite({ path, lockTimeoutMs: 20 }), new DatabaseSync(path)];
    const selected = db.prepare('SELECT count(*) AS n FROM fact_text_queue');
    let n = 0;
    const put = (count: number) => {
      const facts = Array.from({ length: count }, () =>
        changeOf({ ...ALICE, subject: `s${++n}` }, 1, 10, [{ fact_id: `${n}` }]),
      );
      return store.commit({ ...batchOf([]), facts });
    };
    const close = async (): Promise<void> => {
      expect(await store.selfCheck()).toEqual([]);
      db.close();
      await store.close();
    };
    const waiting = () => selected.get()!['n'] as number;
    const fewWait = () => vi.waitFor(() => expect(waiting()).toBeLessThan(PART), { timeout: 300_000 });
    return { store, db, put, close, waiting, fewWait };
  }

  test('few or many at a time', async () => {
    const { put, close, fewWait } = await opened('many');
    for (const [count, each] of [
      [1, 1_700],
      [4, 900],
    ] as const) {
      for (let i = 0; i < count; i += 1) expect(await put(each)).toEqual(COMMITTED);
      await fewWait();
    }
    await close();
  });

  test('where branches take over what was said at many times', async () => {
    const { store, close, fewWait } = await opened('branches');
    const times = 20;
    const rows = Array.from({ length: times }, (_, time) => {
      const said = { fact_id: `${time}`, valid_from: day(time + 1), valid_to: day(time + 2) };
      return changeOf(ALICE, time + 1, time + 1, [said]).insert[0]!;
    });
    for (let branch = 0; branch < 120; branch += 1) {
      const partition = { ...ALICE, branch: `b${branch}` };
      const said = { fact_id: 'own', valid_from: day(50) };
      const write = changeOf(partition, times + 1, 40, [said]);
      const inherit = { until: day(30), rows: rows.map((row) => ({ ...row, ...partition })) };
      expect(await store.commit({ ...batchOf([]), facts: [{ ...write, inherit }] })).toEqual(COMMITTED);
    }
    await fewWait();
    await close();
  });

  test('also after it has failed, which is not tried again before the next commit', async () => {
    const { db, put, close, waiting, fewWait } = await opened('locked');
    expect(await put(PART)).toEqual(COMMITTED);
    // It waits for the lock by now, with who is told.
    db.exec('BEGIN IMMEDIATE');
    await expect(put(1)).rejects.toMatchObject({ code: 'store_locked' });
    const begun: string[] = [];
    interceptSql((sql, proceed) => {
      if (sql.startsWith('BEGIN')) begun.push(sql);
      return proceed();
    });
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    vi.restoreAllMocks();
    expect(begun).toEqual([]);
    db.exec('ROLLBACK');
    expect(waiting()).toBe(PART);
    expect(await put(1)).toEqual(COMMITTED);
    await fewWait();
    await close();
  });
});

test('texts of a store that is only read are found, also those that nobody has indexed', async () => {
  const path = join(folder, 'read-texts.db');
  const store = await openSqlite({ path });
  const facts = Array.from({ length: 200 }, (_, n) =>
    changeOf({ ...ALICE, subject: `s${n}` }, 1, 10, [{ fact_id: `${n}`, object: `sought n${n}` }]),
  );
  await store.commit({ ...batchOf([]), facts });
  await store.close();
  const reader = await openSqlite({ path, mode: 'readonly' });
  expect(await reader.factsByText({ space: ALICE.space, text: 'sought' })).toHaveLength(200);
  const readonly = { code: 'store_readonly' };
  await expect(reader.textsToEmbed('m', ALICE.space, 1)).rejects.toMatchObject(readonly);
  await expect(reader.putVectors('m', [])).rejects.toMatchObject(readonly);
  await reader.close();
});

test('an index that is not of the texts is found', async () => {
  const path = join(folder, 'texts.db');
  const store = await openSqlite({ path });
  for (const subject of ['alice', 'bob'])
    await store.commit({ ...batchOf([]), facts: [changeOf({ ...ALICE, subject }, 1, 10, [{ fact_id: subject }])] });
  const [text] = await store.textsToEmbed('m', ALICE.space, 1);
  await store.putVectors('m', [{ id: text!.id, vector: new Float32Array([1]) }]);
  expect(await store.selfCheck()).toEqual([]);
  const db = new DatabaseSync(path);
  db.exec(
    `DELETE FROM fact_text WHERE id = 1; INSERT INTO fact_words (rowid, words) VALUES (7, '1_x'); UPDATE fact_text SET key = 9 WHERE id = 2`,
  );
  db.close();
  expect(await store.selfCheck()).toEqual([
    '1 texts of facts belong to no partition',
    '1 spaces have other texts than are counted',
    '2 texts of facts are not indexed, or indexed and not there',
    '1 texts of facts have other words than are counted',
    '2 facts have no text that they are found by; make them anew: assize memory rebuild',
    '1 texts are of no fact; make them anew: assize memory rebuild',
    '1 vectors belong to no text',
  ]);
  await store.close();
});

test('texts that were indexed without words that stand everywhere are found by them once the store is migrated', async () => {
  const path = join(folder, 'stop-words.db');
  const store = await openSqlite({ path });
  const facts = ['The Who', 'IT', 'alice'].map((subject, n) =>
    changeOf({ ...ALICE, subject }, 1, 10, [{ fact_id: `${n}`, object: n === 0 ? 'x '.repeat(400) : 'off' }]),
  );
  await store.commit({ ...batchOf([]), facts });
  const texts = await store.textsToEmbed('m', ALICE.space, 10);
  const vector = new Float32Array([1, 2]);
  await store.putVectors(
    'm',
    texts.map(({ id }) => ({ id, vector })),
  );
  const found = (from: SqliteStore) =>
    Promise.all(['the who', 'it', 'off', 'x'].map((text) => from.factsByText({ space: ALICE.space, text })));
  const before = await found(store);
  expect(before.map((hits) => hits.length)).toEqual([1, 1, 2, 1]);
  await store.close();
  const db = new DatabaseSync(path);
  for (const [word, subject] of [
    ['the', 'The Who'],
    ['who', 'The Who'],
    ['it', 'IT'],
    ['off', 'IT'],
    ['off', 'alice'],
  ]) {
    const id = `(SELECT t.id FROM fact_text AS t JOIN fact_partition AS p ON p.key = t.key WHERE p.subject = '${subject}')`;
    db.exec(`UPDATE fact_words SET words = replace(words, ' 1_${word} ', ' '), length = length - 1 WHERE rowid = ${id};
      UPDATE fact_text SET words = words - 1 WHERE id = ${id};
      UPDATE fact_text_space SET words = words - 1`);
  }
  db.exec(`${UNGUARDED}; ALTER TABLE fact ADD COLUMN system_end TEXT NOT NULL DEFAULT '';
    UPDATE fact SET system_end = (SELECT e.system_end FROM fact_time AS e WHERE e.n = fact.n);
    DROP TABLE fact_time; PRAGMA user_version = 13`);
  db.close();
  const migrated = await openSqlite({ path });
  expect(await found(migrated)).toEqual(before);
  expect(await migrated.selfCheck()).toEqual([]);
  expect(await migrated.textsToEmbed('m', ALICE.space, 10)).toEqual([]);
  await migrated.close();
});

test('texts of other scripts that were indexed by other words are found once the store is migrated, and keep their vectors', async () => {
  const path = join(folder, 'words.db');
  const store = await openSqlite({ path });
  const objects = ['die Straße', `${'x '.repeat(400)}l’été`, '東京', 'in English'];
  const facts = objects.map((object, n) =>
    changeOf({ ...ALICE, subject: `s${n}` }, 1, 10, [
      { fact_id: `a${n}`, object },
      { fact_id: `b${n}`, object, row_kind: 'audit', valid_from: day(2) },
    ]),
  );
  await store.commit({ ...batchOf([]), facts });
  const texts = await store.textsToEmbed('m', ALICE.space, 10);
  await store.putVectors(
    'm',
    texts.map(({ id }) => ({ id, vector: new Float32Array([1, 2]) })),
  );
  const found = (from: SqliteStore) =>
    Promise.all(
      ['strasse', 'été', '京', '東京', 'x', 'english'].map((text) =>
        from.factsByText({ space: ALICE.space, text, kind: 'all' }),
      ),
    );
  const before = await found(store);
  expect(before.map((hits) => hits.length)).toEqual(Array(6).fill(2));
  await store.close();
  const db = new DatabaseSync(path);
  const kept = "SELECT rowid, words FROM fact_words WHERE words LIKE '%english%'";
  const english = db.prepare(kept).all();
  for (const [word, ...was] of [['strass', 'straße'], ['ete'], ['東'], ['京']] as const)
    db.exec(`UPDATE fact_words SET words = replace(words, ' 1_${word} ', '${was.map((each) => ` 1_${each}`).join('')} '),
      length = length - ${1 - was.length} WHERE words LIKE '% 1_${word} %';`);
  db.exec(`UPDATE fact_text SET words = (SELECT w.length FROM fact_words AS w WHERE w.rowid = fact_text.id);
    UPDATE fact_text_space SET words = (SELECT sum(words) FROM fact_text); PRAGMA user_version = 18`);
  db.close();
  const migrated = await openSqlite({ path });
  expect(await found(migrated)).toEqual(before);
  expect(await migrated.selfCheck()).toEqual([]);
  expect(await migrated.textsToEmbed('m', ALICE.space, 10)).toEqual([]);
  await migrated.close();
  const after = new DatabaseSync(path);
  expect(after.prepare(kept).all()).toEqual(english);
  after.close();
});

test('people with a SQL shell find the twelve columns of a fact', async () => {
  const path = join(folder, 'shell.db');
  const store = await openSqlite({ path });
  await store.commit({ ...batchOf([]), facts: [changeOf(ALICE, 1, 10, [{ fact_id: 'a', confidence: 0.5 }])] });
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

/** What is another one in a row beside it. */
const ELSEWHERE: { readonly [column: string]: string } = { fact_id: "'b'", n: 'NULL' };

test('what Table 12 says of a row is refused by the tables themselves', async () => {
  const path = join(folder, 'constraints.db');
  const store = await openSqlite({ path });
  await store.commit({ ...batchOf([]), facts: [changeOf(ALICE, 1, 10, [{ fact_id: 'a' }])] });
  await store.close();
  const db = new DatabaseSync(path);
  const twice = (change: string) => () => db.exec(`INSERT INTO fact SELECT ${change} FROM fact WHERE fact_id = 'a'`);
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
  const endsAt = (time: string) => `system_end = (SELECT ${time} FROM fact WHERE fact.n = fact_time.n)`;
  for (const time of ["'2000-01-01T00:00:00.000000Z'", 'system_start'])
    expect(() => db.exec(`UPDATE fact_time SET ${endsAt(time)}`), time).toThrow(/CHECK constraint failed/);
  const ended = `INSERT INTO fact_time SELECT key, audit, system_start, valid_from, 'other', n FROM fact`;
  expect(() => db.exec(ended)).toThrow(/CHECK constraint failed/);
  expect(() => db.exec('INSERT INTO fact_version SELECT * FROM fact_version')).toThrow(/UNIQUE constraint failed/);
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
  for (const call of [() => reader.rebuildFacts(pages()), () => reader.commit({ ...batchOf([]), facts: [change] })])
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

test('texts and vectors that are not as the facts say are found', async () => {
  const path = join(folder, 'not-as-said.db');
  const store = await openSqlite({ path });
  const facts = ['gone', 'kept', 'counted', 'elsewhere', 'short', 'strange', 'erased'].map((object) =>
    changeOf({ ...ALICE, subject: object }, 1, 10, [{ fact_id: object, object }]),
  );
  await store.commit({ ...batchOf([]), facts });
  // Nothing is indexed yet, which is no fault.
  expect(await store.selfCheck()).toEqual([]);
  const texts = await store.textsToEmbed('m', ALICE.space, 100);
  await store.putVectors(
    'm',
    texts.map(({ id }) => ({ id, vector: new Float32Array([3, 4]) })),
  );
  await store.commit({ ...batchOf([]), erased: [{ hash: contentOf('erased').hash, by: blobOf('by').hash }] });
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
    '2 spaces have other texts than are counted',
    '1 texts of facts have other words than are counted',
    '1 facts have no text that they are found by; make them anew: assize memory rebuild',
    '1 texts are of no fact; make them anew: assize memory rebuild',
    '1 texts are there more than once; make them anew: assize memory rebuild',
    '1 texts of facts are found in another space than theirs; make them anew: assize memory rebuild',
    '1 vectors belong to no text',
    '2 vectors are of no embedder, or have not as many dimensions as it; make them anew: assize memory rebuild',
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
    for (const change of [first, second, third]) await store.commit({ ...batchOf([]), facts: [change] });
  }
  // It has several values by now, and what was said before has one at a time.
  const several = { cardinality: 'multi-valued' } as const;
  const fourth = changeOf({ ...ALICE, subject: 'erin' }, 4, 40, [{ fact_id: 'erin as well', ...several }]);
  await store.commit({ ...batchOf([]), facts: [fourth] });
  expect(await store.selfCheck()).toEqual([]);
  const db = new DatabaseSync(path);
  db.exec(`${UNGUARDED}; UPDATE fact_partition SET version = 1 WHERE subject = 'alice';
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
    '1 versions of facts are not where they are looked for',
    '1 long objects belong to no fact, or are gone from theirs',
    'the facts of ["clinic","alice","medication"] do not fit the version or the latest change of their partition',
    'the facts of ["clinic","bob","medication"] do not fit the version or the latest change of their partition',
    'the facts of ["clinic","carol","medication"] overlap, where there is one value at a time',
    'the facts of ["clinic","erin","medication"] overlap, where there is one value at a time',
    'the facts are incomplete; make them anew: assize memory rebuild',
  ]);
  await store.close();
});

/** How SQLite goes about a statement: what it does, and inside of what. */
function planOf(
  db: DatabaseSync,
  sql: string,
): { readonly id: number; readonly parent: number; readonly detail: string }[] {
  return db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as unknown as ReturnType<typeof planOf>;
}

test('one of many values that began at once is ended without a look at the others', async () => {
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

test('facts that are there twice, and facts, versions and long objects without each other are found', async () => {
  const path = join(folder, 'twice.db');
  const store = await openSqlite({ path });
  const long = 'much to say, '.repeat(30);
  const subjects = ['twice', 'thrice', 'no fact', 'no version', 'no object', 'whole'];
  const facts = subjects.map((subject) => changeOf({ ...ALICE, subject }, 1, 10, [{ fact_id: subject, object: long }]));
  await store.commit({ ...batchOf([]), facts });
  expect(await store.selfCheck()).toEqual([]);
  const db = new DatabaseSync(path);
  const names = db
    .prepare("SELECT group_concat(name) AS names FROM pragma_table_info('fact') WHERE name <> 'n'")
    .get()!;
  const again = (ids: string): string =>
    `INSERT INTO fact (${names['names']}) SELECT ${names['names']} FROM fact WHERE fact_id IN (${ids})`;
  db.exec(`${UNGUARDED}; ${again("'twice', 'thrice'")}; ${again("'thrice'")};
    INSERT INTO fact_time SELECT key, audit, '9999-12-31T00:00:00.000000Z', valid_from, substr(fact_id, 1, 8), n
      FROM fact WHERE n NOT IN (SELECT n FROM fact_time);
    DELETE FROM fact_time WHERE n = (SELECT n FROM fact WHERE fact_id = 'no fact');
    DELETE FROM fact WHERE fact_id = 'no fact';
    DELETE FROM fact_version WHERE fact_id = 'no version';
    DELETE FROM fact_object WHERE id = (SELECT long FROM fact WHERE fact_id = 'no object')`);
  db.close();
  expect(await store.selfCheck()).toEqual([
    '2 versions of facts are not where they are looked for',
    '4 facts are there more than once; make them anew: assize memory rebuild',
    '2 long objects belong to no fact, or are gone from theirs',
    'the facts of ["clinic","twice","medication"] overlap, where there is one value at a time',
    'the facts of ["clinic","thrice","medication"] overlap, where there is one value at a time',
  ]);
  await store.close();
});

test('facts that are not found by when they end, and ends of no fact, are found', async () => {
  const path = join(folder, 'ends.db');
  const store = await openSqlite({ path });
  const subjects = ['whole', 'no end', 'two ends', 'no fact', 'of another', 'from another time'];
  const facts = subjects.map((subject) => changeOf({ ...ALICE, subject }, 1, 10, [{ fact_id: subject }]));
  await store.commit({ ...batchOf([]), facts });
  expect(await store.selfCheck()).toEqual([]);
  const db = new DatabaseSync(path);
  const of = (subject: string): string => `WHERE n = (SELECT n FROM fact WHERE fact_id = '${subject}')`;
  db.exec(`${UNGUARDED}; DELETE FROM fact_time ${of('no end')};
    INSERT INTO fact_time SELECT key, audit, '2030-01-01T00:00:00.000000Z', valid_from, id_start, n FROM fact_time ${of('two ends')};
    INSERT INTO fact_time SELECT key, audit, system_end, valid_from, id_start, 99 FROM fact_time ${of('no fact')};
    UPDATE fact_time SET id_start = 'other' ${of('of another')};
    UPDATE fact_time SET valid_from = '${day(3)}' ${of('from another time')}`);
  db.close();
  expect(await store.selfCheck()).toEqual([
    '7 facts are not found by when they end, or ends are of no fact; make them anew: assize memory rebuild',
    'the facts of ["clinic","two ends","medication"] do not fit the version or the latest change of their partition',
  ]);
  await store.close();
});

test('a self-check compares no table with all of another, nor texts with all of their partition', async () => {
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
    // Of one row.
    const scans = plan.filter(({ detail }) => detail.startsWith('SCAN') && !detail.startsWith('SCAN fact_rebuild'));
    const correlated = new Set(plan.filter(({ detail }) => detail.startsWith('CORRELATED')).map(({ id }) => id));
    const walks = plan.filter(
      ({ parent, detail }) => correlated.has(parent) && /^SCAN|SEARCH (e|fact_time) /.test(detail),
    );
    expect(new Set(scans.map(({ parent }) => parent)).size, sql).toBe(scans.length);
    expect(walks, sql).toEqual([]);
  }
  db.close();
});

test('long objects of an older store are moved, and are read, found and erased as before', async () => {
  const [from, to] = [join(folder, 'new.db'), join(folder, 'older.db')];
  const long = (fact_id: string): string => `${fact_id} has much to say, ${'again and again, '.repeat(20)}`;
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
  const newer = await openSqlite({ path: from });
  const said = [...first.insert, ...second.insert].map(({ object }) => blobOf(object));
  for (const change of [first, second]) await newer.commit({ ...batchOf([]), blobs: said, facts: [change] });
  const facts = await newer.facts({ space: ALICE.space, kind: 'all' });
  await newer.close();

  olderSqlite(from, to, 12);
  const db = new DatabaseSync(to);
  expect(db.prepare('SELECT count(*) AS n FROM fact WHERE length(object) > 300').get()).toEqual({ n: 2 });
  db.close();

  const store = await openSqlite({ path: to });
  expect(await store.facts({ space: ALICE.space, kind: 'all' })).toEqual(facts);
  expect(await store.selfCheck()).toEqual([]);
  const look = new DatabaseSync(to, { readOnly: true });
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
  expect((await store.facts({ space: ALICE.space, kind: 'all' })).map(({ object }) => object)).toEqual(
    facts.map((row) => (row.fact_id === 'c' ? `{"$erased":"${content.hash}"}` : row.object)),
  );
  await store.close();
  for (const file of [to, `${to}-wal`])
    if (existsSync(file)) expect(readFileSync(file).includes('c has much to say')).toBe(false);
});
