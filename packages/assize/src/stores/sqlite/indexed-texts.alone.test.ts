import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  ALICE,
  changeOf,
  contentOf,
  day,
  keyOfRow,
  namesOf,
} from '@assize/testing/internal/fact-rows.ts';
import { interceptSql } from '@assize/testing/internal/intercept.ts';
import { batchOf, blobOf, entryAfter } from '@assize/testing/internal/store-rows.ts';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { PART } from './facts/indexing.ts';
import { TextWriter } from './facts/text-writer.ts';
import { openSqlite } from './open.ts';
import { migrate } from './schema/migrate.ts';
import type { SqliteStore } from './store.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-indexed-'));
afterAll(() => rmSync(folder, { recursive: true }));

const COMMITTED = { status: 'committed' };
const BOB = { ...ALICE, subject: 'bob' };

test.each([1, 700])(
  'no erased byte stays in the word index, vectors or the queue: %i texts',
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
    const said = () =>
      [path, `${path}-wal`].some((file) =>
        /_(sesqui|quintess)/i.test(readFileSync(file, 'latin1')),
      );
    expect(said()).toBe(true);
    const hashes = [...secrets, late].flatMap(({ names, insert }) => [
      names.hash,
      insert[0]!.content.hash,
    ]);
    await store.commit({
      ...batchOf([]),
      erased: hashes.map((hash) => ({ hash, by: blobOf('by').hash })),
    });
    await store.scrub();
    expect(said()).toBe(false);
    expect((await store.factsByText({ space: ALICE.space, text: 'sesame' })).length).toBe(20);
    expect(
      await store.factsByText({ space: ALICE.space, text: 'sesquipedalian0 quintessa words' }),
    ).toEqual([]);
    expect(await store.selfCheck()).toEqual([]);
    await store.close();
    const db = new DatabaseSync(path);
    expect(db.prepare('SELECT count(*) AS n FROM fact_vector').get()).toEqual({ n: 20 });
    db.close();
  },
);

test.each(['nothing', 'others indexed it', 'a rollback', 'an erasure'])(
  'the index queue in memory equals the queue in the file: after %s',
  async (event) => {
    const path = join(folder, `waits after ${event}.db`);
    const [store, other] = [await openSqlite({ path }), await openSqlite({ path })];
    const put = async (by: SqliteStore, ...facts: ReturnType<typeof changeOf>[]): Promise<void> =>
      expect(await by.commit({ ...batchOf([]), facts })).toEqual(COMMITTED);
    const first = changeOf(ALICE, 1, 10, [{ fact_id: 'a', object: 'secret' }]);
    await put(store, first, changeOf(BOB, 1, 10, [{ fact_id: 'c', object: 'third' }]));
    await put(
      store,
      changeOf(ALICE, 2, 11, [{ fact_id: 'b', object: 'second' }], first.insert.map(keyOfRow)),
    );
    const next = changeOf({ ...ALICE, subject: 'carol' }, 1, 12, [
      { fact_id: 'd', object: 'fourth' },
    ]);
    if (event === 'others indexed it') {
      // Later rows reuse the numbers of these rows.
      await other.textsToEmbed('m', ALICE.space, 10);
      await put(other, next);
    } else if (event === 'a rollback') {
      const root = entryAfter(undefined, 't');
      await store.commit(batchOf(root));
      const lost = changeOf({ ...ALICE, subject: 'dan' }, 1, 12, [
        { fact_id: 'e', object: 'fifth' },
      ]);
      const copy = { ...batchOf({ ...entryAfter(undefined, 'u'), id: root.id }), facts: [lost] };
      const written = put(store, next);
      expect(await store.commit(copy)).toMatchObject({ status: 'conflict' });
      await written;
    } else {
      await put(store, next);
      const erased = [contentOf('secret').hash, namesOf(BOB).hash].map((hash) => ({
        hash,
        by: blobOf('by').hash,
      }));
      if (event === 'an erasure')
        expect(await store.commit({ ...batchOf([]), erased })).toEqual(COMMITTED);
      await store.scrub();
    }
    await store.textsToEmbed('m', ALICE.space, 10);
    expect(await store.selfCheck()).toEqual([]);
    for (const each of [store, other]) await each.close();
    const db = new DatabaseSync(path);
    const texts = db.prepare(
      `SELECT p.subject, w.words FROM fact_words AS w JOIN fact_partition AS p ON p.key = w.key`,
    );
    const found = texts
      .all()
      .map(({ subject, words }) => `${subject}: ${String(words).trim().split('1_').at(-1)}`);
    db.close();
    const said = ['alice: second', 'alice: secret', 'bob: third', 'carol: fourth'];
    expect(found.sort()).toEqual(event === 'an erasure' ? [said[0], said[3]] : said);
  },
);

test('the index queue caches the data that indexing needs, up to a limit', async () => {
  const store = await openSqlite({ path: join(folder, 'room.db'), durability: 'off' });
  let n = 0;
  /** The number of partitions with queued changes that had to be read again. */
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
  // Many short texts count like a long one.
  expect(await readFor(9, 1_000, 10)).toBeGreaterThan(0);
  expect(await readFor(5, 1, 2 ** 20)).toBe(2);
  // Indexed changes take no space in the cache.
  expect(await readFor(3, 1, 2 ** 20)).toBe(0);
  expect(await store.selfCheck()).toEqual([]);
  await store.close();
});

test('the index queue keeps no rows alive: they may outnumber indexed ones', async () => {
  const db = new DatabaseSync(':memory:');
  migrate(db);
  const writer = new TextWriter(db);
  const enqueued = (): WeakRef<object> => {
    const [row] = changeOf(ALICE, 1, 10, [{ fact_id: 'a' }]).insert;
    writer.enqueue(1, day(10), ALICE, [row!]);
    return new WeakRef(row!);
  };
  const row = enqueued();
  // The engine keeps the target of a new WeakRef until the end of the turn.
  await new Promise((resolve) => setImmediate(resolve));
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  expect(row.deref()).toBeUndefined();
  expect(writer.flush(10)).toBe(false);
  expect(db.prepare('SELECT count(*) AS n FROM fact_text').get()).toEqual({ n: 1 });
  db.close();
});

test.each(['in memory', 'read again'])(
  'of long texts fewer are indexed together, also of one partition: %s',
  async (how) => {
    const path = join(folder, `long texts ${how}.db`);
    const store = await openSqlite({ path });
    const object = 'word '.repeat(3_000).trim();
    const cardinality = 'multi-valued' as const;
    // Each change has 60,000 words, in two partitions alternately, plus short texts.
    for (const [who, version, texts] of [
      ['a', 1, 20],
      ['b', 1, 20],
      ['a', 2, 20],
      ['a', 3, 20],
      ['b', 2, 20],
      ['c', 1, 1],
    ] as const) {
      const name = { ...ALICE, subject: who };
      const rows = Array.from({ length: texts }, (_, n) => ({
        fact_id: `${who} ${version} ${n}`,
        cardinality,
        object: `${version} ${n} ${object}`,
      }));
      expect(
        await store.commit({ ...batchOf([]), facts: [changeOf(name, version, version, rows)] }),
      ).toEqual(COMMITTED);
    }
    const db = new DatabaseSync(path);
    const writer = new TextWriter(db);
    if (how === 'in memory') {
      const waiting = db
        .prepare('SELECT key, system_start FROM fact_text_queue ORDER BY n')
        .all() as {
        key: number;
        system_start: string;
      }[];
      db.exec('DELETE FROM fact_text_queue');
      for (const { key, system_start } of waiting) {
        const { subject } = db
          .prepare('SELECT subject FROM fact_partition WHERE key = ?')
          .get(key) as {
          subject: string;
        };
        const rows = await store.facts({ ...ALICE, subject, limit: 100 });
        writer.enqueue(
          key,
          system_start,
          { ...ALICE, subject },
          rows.filter((row) => row.system_time_start === system_start),
        );
      }
    }
    const queue = db.prepare('SELECT n FROM fact_text_queue ORDER BY n');
    const left: number[][] = [];
    while (writer.flush(10)) left.push(queue.all().map(({ n }) => n as number));
    expect(left).toEqual([
      [2, 4, 5, 6],
      [4, 6],
    ]);
    expect(queue.all()).toEqual([]);
    expect(db.prepare('SELECT count(*) AS n FROM fact_text').get()).toEqual({ n: 101 });
    db.close();
    expect(await store.selfCheck()).toEqual([]);
    await store.close();
  },
);

test('each queued word is looked up once in the search words, however many', async () => {
  const store = await openSqlite({ path: join(folder, 'long-search.db') });
  const object = Array.from({ length: 3_000 }, (_, n) => `x${n}`).join(' ');
  await store.commit({
    ...batchOf([]),
    facts: [changeOf(ALICE, 1, 10, [{ fact_id: 'a', object }])],
  });
  const compared = vi.spyOn(Array.prototype, 'indexOf');
  const text = Array.from({ length: 1_000 }, (_, n) => `y${n}`).join(' ');
  const found = await store.factsByText({ space: ALICE.space, text: `${text} x7` });
  const lists = compared.mock.contexts.filter(
    (list) => (list as readonly unknown[]).length > 1_000,
  );
  vi.restoreAllMocks();
  expect([found.length, lists.length]).toEqual([1, 0]);
  await store.close();
});

describe('at most one batch of many changes waits to be indexed', () => {
  /** Returns a function that counts the queued changes in the file. */
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
    const fewWait = () =>
      vi.waitFor(() => expect(waiting()).toBeLessThan(PART), { timeout: 300_000 });
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

  test('nor do a few changes with many texts, during a search', async () => {
    const { store, put, close, waiting } = await opened('large');
    const found = async (text: string) =>
      (await store.factsByText({ space: ALICE.space, text })).length;
    const said = (texts: number) =>
      Array.from({ length: texts }, (_, n) => ({ fact_id: `${texts} ${n}`, object: `w${n}` }));
    const several = said(300).map((row) => ({ ...row, cardinality: 'multi-valued' as const }));
    await store.commit({ ...batchOf([]), facts: [changeOf(BOB, 1, 10, several)] });
    expect([waiting(), await found('w7'), waiting()]).toEqual([1, 1, 0]);
    // Separate changes stay queued while they are few.
    await put(10);
    for (const _ of [1, 2]) expect([await found('says'), waiting()]).toEqual([10, 10]);
    await close();
  });

  test('if branches inherit facts with many valid times', async () => {
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
      expect(await store.commit({ ...batchOf([]), facts: [{ ...write, inherit }] })).toEqual(
        COMMITTED,
      );
    }
    await fewWait();
    await close();
  });

  test('also after a failure; it is not retried before the next commit', async () => {
    const { db, put, close, waiting, fewWait } = await opened('locked');
    expect(await put(PART)).toEqual(COMMITTED);
    // The flush now waits for the lock, after the callers were answered.
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

test('a read-only store finds its texts, including those not indexed yet', async () => {
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
    await store.commit({
      ...batchOf([]),
      facts: [changeOf({ ...ALICE, subject }, 1, 10, [{ fact_id: subject }])],
    });
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
    '1 spaces have a wrong text count',
    '2 texts of facts are not indexed, or indexed texts are missing',
    '1 texts of facts have a wrong word count',
    '2 facts have no search text; rebuild them: assize memory rebuild',
    '1 texts belong to no fact; rebuild them: assize memory rebuild',
    '1 vectors belong to no text',
  ]);
  await store.close();
});

test.each([0, 1, 3])('a search ends when the store is closed %i turns later', async (turns) => {
  const store = await openSqlite({ path: join(folder, `closing-${turns}.db`) });
  const facts = Array.from({ length: 3_000 }, (_, n) =>
    changeOf({ ...ALICE, subject: `patient ${n}` }, 1, 10, [{ fact_id: `claim ${n}` }]),
  );
  // The store indexes the batch after its commit, in more than one part.
  expect(await store.commit({ ...batchOf([]), facts })).toEqual({ status: 'committed' });
  const search = store.factsByText({ space: ALICE.space, text: 'patient', limit: 1 }).then(
    () => 'found',
    ({ code }) => code,
  );
  for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
  await store.close();
  expect(['found', 'store_closed']).toContain(await search);
});
