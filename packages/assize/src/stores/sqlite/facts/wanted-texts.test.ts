import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { FactModel, generatedBatches, SPACES } from '@assize/testing/internal/fact-model.ts';
import { ALICE, changeOf } from '@assize/testing/internal/fact-rows.ts';
import { runAgainst } from '@assize/testing/internal/laws/fact-model.ts';
import { batchOf } from '@assize/testing/internal/store-rows.ts';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { openSqlite } from '../open.ts';
import { LONG_OBJECT, OBJECT, ROWS } from './fact-rows.ts';
import { TEXT_NAME } from './text-writer.ts';
import { textsWithoutVector } from './wanted-texts.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-wanted-'));
afterAll(() => rmSync(folder, { recursive: true }));

let places = 0;
const newPath = (): string => join(folder, `${++places}.db`);

/** The same selection as a plain definition: each text scans its partition. */
const PLAINLY = `SELECT ${TEXT_NAME} AS id, p.subject, p.predicate,
    (SELECT ${OBJECT} FROM ${ROWS} WHERE e.key = t.key AND e.audit = t.audit AND f.content = t.content LIMIT 1) AS object,
    t.audit, t.day
  FROM fact_text_space AS s JOIN fact_text AS t ON t.space = s.space JOIN fact_partition AS p ON p.key = t.key
  WHERE s.name = ? AND NOT EXISTS (SELECT 1 FROM fact_vector AS v WHERE v.text = t.id AND v.embedder = ?)
  ORDER BY t.id LIMIT ?`;

const EMBEDDER = 1;

test('texts without a vector match a scan of each partition, in the same order', async () => {
  let [most, longest] = [0, 0];
  await fc.assert(
    fc.asyncProperty(generatedBatches, fc.infiniteStream(fc.boolean()), async (batches, has) => {
      const path = newPath();
      const store = await openSqlite({ path, durability: 'off' });
      await runAgainst(store, new FactModel(), batches);
      for (const space of SPACES) {
        const texts = await store.textsToEmbed('m', space, 1_000);
        const given = texts.filter(() => has.next().value);
        await store.putVectors(
          'm',
          given.map(({ id }) => ({ id, vector: new Float32Array([1]) })),
        );
      }
      await store.close();
      const db = new DatabaseSync(path, { readOnly: true });
      for (const space of [...SPACES, 'nobody'])
        for (const embedder of [EMBEDDER, -1])
          for (const limit of [1, 2, 7, 1_000]) {
            const found = db.prepare(textsWithoutVector).all(space, embedder, limit);
            expect(found).toEqual(db.prepare(PLAINLY).all(space, embedder, limit));
            most = Math.max(most, found.length);
            longest = Math.max(longest, ...found.map(({ object }) => String(object).length));
          }
      db.close();
    }),
    { numRuns: 20 },
  );
  expect(most).toBeGreaterThan(10);
  expect(longest).toBeGreaterThan(LONG_OBJECT);
});

test('each row of a partition is visited once, and no more for each text', async () => {
  const count = 2_000;
  const path = newPath();
  const store = await openSqlite({ path, durability: 'off' });
  const rows = Array.from({ length: count }, (_, n) => ({
    fact_id: `${n}`,
    cardinality: 'multi-valued' as const,
  }));
  await store.commit({ ...batchOf([]), facts: [changeOf(ALICE, 1, 10, rows)] });
  expect(await store.textsToEmbed('m', ALICE.space, count)).toHaveLength(count);
  await store.close();
  const db = new DatabaseSync(path);
  for (const isAnalysed of [false, true]) {
    if (isAnalysed) db.exec('ANALYZE');
    const plan = db
      .prepare(`EXPLAIN QUERY PLAN ${textsWithoutVector}`)
      .all() as unknown as readonly {
      detail: string;
    }[];
    const steps = plan.map(({ detail }) => detail);
    const visits = steps.filter((step) => /^(SCAN|SEARCH) [ef]\b/.test(step));
    expect(visits).toEqual([
      'SEARCH e USING PRIMARY KEY (key=? AND audit=?)',
      'SEARCH f USING INTEGER PRIMARY KEY (rowid=?)',
      'SEARCH f USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN',
    ]);
    const partition = steps.indexOf(visits[0]!);
    expect(steps[partition - 1]).toBe('SCAN a');
    expect(steps).toContain(
      'SEARCH w USING AUTOMATIC COVERING INDEX (key=? AND audit=? AND content=?)',
    );
  }
  db.close();
});
