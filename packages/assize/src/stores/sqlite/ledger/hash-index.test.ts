import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { blobOf } from '@assize/testing/internal/store-rows.ts';
import {
  array,
  assert,
  constant,
  constantFrom,
  integer,
  nat,
  oneof,
  property,
  record,
  tuple,
  uniqueArray,
} from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { cases, hasUsualCases } from '../../../../../../tests/support/cases.ts';
import { openSqlite } from '../open.ts';
import { migrate } from '../schema/migrate.ts';
import { HashIndex, prepareUnindexed } from './hash-index.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-hash-index-'));
let places = 0;

afterAll(() => rmSync(folder, { recursive: true }));

/** Few prefixes, so many hashes share one and differ only at the end. */
const hashes = tuple(
  constantFrom('00000000', '00000001', '7fffffff', '80000000', 'ffffffff', 'abcd0000'),
  nat(9),
).map(([start, end]) => start.padEnd(63, '5') + end);

const steps = array(
  oneof(
    record({
      does: constantFrom('commit' as const, 'rollback' as const, 'savepoint' as const),
      by: nat(1),
      hashes: array(hashes, { maxLength: 6 }),
    }),
    record({ does: constant('reopen' as const), by: nat(1) }),
    record({ does: constant('find' as const), by: nat(1), hash: hashes }),
    record({
      does: constant('findAll' as const),
      by: nat(1),
      hash: hashes,
      digits: integer({ min: 1, max: 64 }),
    }),
  ),
  { minLength: 10, maxLength: 60 },
);

/**
 * A connection that works like a store: it searches before it inserts, in transactions that can be
 * rolled back.
 */
function connect(path: string) {
  const db = new DatabaseSync(path, { timeout: 1_000 });
  const index = new HashIndex(db, 'blob', { run: 4, moved: 1, perRow: 1 });
  const version = db.prepare('PRAGMA data_version');
  const insert = db.prepare("INSERT INTO blob (hash, text) VALUES (unhex(?), '')");
  return {
    db,
    index,
    /** `savepoint`: rolls back the first half, and writes everything again. */
    write(hashes: readonly string[], end: 'commit' | 'rollback' | 'savepoint'): void {
      const put = (hash: string): void => {
        if (index.findWritten(hash) === undefined)
          index.add(hash, Number(insert.run(hash).lastInsertRowid));
      };
      db.exec('BEGIN IMMEDIATE');
      index.begin(version.get()?.['data_version']);
      if (end === 'savepoint') {
        db.exec('SAVEPOINT half');
        hashes.slice(0, hashes.length >> 1).forEach(put);
        db.exec('ROLLBACK TO half; RELEASE half');
        index.forget();
      }
      for (const hash of hashes) put(hash);
      index.move();
      db.exec(end === 'rollback' ? 'ROLLBACK' : 'COMMIT');
      if (end === 'rollback') index.forget();
    },
  };
}

test('two connections find the rows that a full scan finds, and no hash twice', () => {
  let moved = 0;
  assert(
    property(steps, uniqueArray(hashes, { maxLength: 8 }), (steps, rows) => {
      const path = join(folder, `${places++}.db`);
      const first = new DatabaseSync(path);
      first.exec('PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL');
      migrate(first);
      if (rows.length > 0) {
        const prefixes = rows.map(
          (hash, n) => `(${Number.parseInt(hash.slice(0, 8), 16) >>> 1}, ${n + 1})`,
        );
        first.exec(`INSERT INTO blob (hash, text) VALUES ${rows.map((hash) => `(unhex('${hash}'), '')`).join()};
          INSERT INTO blob_index (prefix, position) VALUES ${prefixes.join()};
          UPDATE hash_index SET through = ${rows.length} WHERE name = 'blob'`);
      }
      const scan = first.prepare(
        'SELECT position, lower(hex(hash)) AS hash FROM blob ORDER BY hash',
      );
      const unindexed = prepareUnindexed(first, 'blob');
      const connections = [connect(path), connect(path)];
      try {
        for (const step of steps) {
          const { index, db, write } = connections[step.by]!;
          if (step.does === 'reopen') {
            db.close();
            connections[step.by] = connect(path);
          } else if (step.does === 'find') {
            const rows = scan.all() as { position: number; hash: string }[];
            expect(index.find(step.hash)).toBe(
              rows.find(({ hash }) => hash === step.hash)?.position,
            );
          } else if (step.does === 'findAll') {
            const rows = scan.all() as { position: number; hash: string }[];
            const start = step.hash.slice(0, step.digits);
            expect(index.findAll(start, 3)).toEqual(
              rows
                .filter(({ hash }) => hash.startsWith(start))
                .slice(0, 3)
                .map(({ position }) => position),
            );
          } else {
            write(step.hashes, step.does);
          }
          const all = scan.all().map((row) => row['hash']);
          expect(new Set(all).size).toBe(all.length);
          expect(unindexed()).toBe(0);
        }
        moved += first.prepare('SELECT count(*) AS n FROM blob_index').get()!['n'] as number;
      } finally {
        for (const { db } of connections) db.close();
        first.close();
      }
    }),
    { numRuns: cases(200) },
  );
  expect(moved).toBeGreaterThan(hasUsualCases() ? 50 : 0);
});

test('later commits move cached hashes into the file, and the store finds them', async () => {
  const path = join(folder, 'long.db');
  const store = await openSqlite({ path, durability: 'off' });
  const blobs = Array.from({ length: 50_000 }, (_, n) => blobOf(String(n)));
  for (let from = 0; from < blobs.length; from += 1_000)
    await store.commit({ entries: [], blobs: blobs.slice(from, from + 1_000) });
  const db = new DatabaseSync(path);
  const { through, rows } = db
    .prepare(
      "SELECT through, (SELECT count(*) FROM blob_index) AS rows FROM hash_index WHERE name = 'blob'",
    )
    .get() as { through: number; rows: number };
  expect(through).toBeGreaterThan(16_000);
  expect(rows).toBeGreaterThanOrEqual(through);
  await store.commit({ entries: [], blobs: blobs.slice(0, 1_000) });
  expect(db.prepare('SELECT count(*) AS n FROM blob').get()).toEqual({ n: blobs.length });
  const reopened = await openSqlite({ path });
  for (const each of [store, reopened])
    for (const { hash, text } of blobs.filter((_, n) => n % 997 === 0))
      expect(await each.blob(hash)).toBe(text);
  expect(await reopened.selfCheck()).toEqual([]);
  db.exec('DELETE FROM blob_index WHERE prefix IN (SELECT prefix FROM blob_index LIMIT 3)');
  db.close();
  expect(await reopened.selfCheck()).toEqual([
    '3 rows of the table blob are not found by their hashes',
  ]);
  await reopened.close();
  await store.close();
});
