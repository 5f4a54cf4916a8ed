import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  FactModel,
  generatedBatches,
  generatedQueries,
  SPACES,
} from '@assize/testing/internal/fact-model.ts';
import { ALICE, changeOf } from '@assize/testing/internal/fact-rows.ts';
import { interceptSql } from '@assize/testing/internal/intercept.ts';
import { runAgainst } from '@assize/testing/internal/laws/fact-model.ts';
import { factVectorLaws } from '@assize/testing/internal/laws/fact-vectors.ts';
import { batchOf } from '@assize/testing/internal/store-rows.ts';
import { runSuite } from '@assize/testing/internal/suite.ts';
import type { FactLedger } from '@assize/testing/internal/suite-types.ts';
import fc from 'fast-check';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { openSqlite } from './open.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-vectors-'));
afterEach(() => vi.restoreAllMocks());
afterAll(() => rmSync(folder, { recursive: true }));

let places = 0;
const newPath = (): string => join(folder, `own-${++places}.db`);

const open = (place: string) =>
  openSqlite({ path: join(folder, `${place}.db`), vectors: 'sqlite-vec' });
runSuite<FactLedger>('facts by sqlite-vec', { name: 'sqlite', open }, [factVectorLaws]);

/** Pseudorandom numbers from 0 to 1, from a seed. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * Many nearly equal vectors. 32-bit numbers order some of them wrongly, make some equal, and
 * distinguish others.
 */
function crowd(count: number, dimensions: number, next: () => number): Float32Array[] {
  const drawn = (): Float32Array => Float32Array.from({ length: dimensions }, () => next() - 0.5);
  const centres = [drawn(), drawn()];
  return Array.from({ length: count }, () => {
    const centre = centres[Math.floor(next() * centres.length)]!;
    const spread = [0, 1e-7, 1e-6, 1e-4, 1][Math.floor(next() * 5)]!;
    return centre.map((number) => number + spread * (next() - 0.5));
  });
}

test.each([1, 3, 64, 1_536])(
  'sqlite-vec finds equal facts, order and scores as exact: %i dimensions',
  async (dimensions) => {
    await fc.assert(
      fc.asyncProperty(
        generatedBatches,
        generatedQueries,
        fc.nat(),
        async (batches, queries, seed) => {
          const path = newPath();
          const exact = await openSqlite({ path, durability: 'off' });
          const extended = await openSqlite({ path, durability: 'off', vectors: 'sqlite-vec' });
          await runAgainst(exact, new FactModel(), batches);
          const next = random(seed);
          for (const space of SPACES) {
            const texts = await exact.textsToEmbed('m', space, 1_000);
            const vectors = crowd(texts.length, dimensions, next);
            await exact.putVectors(
              'm',
              texts.map(({ id }, n) => ({ id, vector: vectors[n]! })),
            );
          }
          const [vector] = crowd(1, dimensions, next);
          const all = SPACES.flatMap((space) =>
            [1, 2, 5].map((limit) => ({ space, kind: 'all' as const, limit })),
          );
          for (const query of [...queries, ...all]) {
            const asked = { ...query, embedder: 'm', vector: vector! };
            expect(await extended.factsByVector(asked)).toEqual(await exact.factsByVector(asked));
          }
          for (const store of [extended, exact]) await store.close();
        },
      ),
      { numRuns: 6 },
    );
  },
);

test('vectors that sqlite-vec can’t distinguish are rescored, however many', async () => {
  const path = newPath();
  const store = await openSqlite({ path, vectors: 'sqlite-vec' });
  const exact = await openSqlite({ path });
  const count = 400;
  const facts = Array.from({ length: count }, (_, n) =>
    changeOf({ ...ALICE, subject: `s ${n}` }, 1, 10, [{ fact_id: `${n}` }]),
  );
  await store.commit({ ...batchOf([]), facts });
  const texts = await store.textsToEmbed('m', ALICE.space, count);
  const next = random(3);
  const base = Float32Array.from({ length: 768 }, () => next() - 0.5);
  await store.putVectors(
    'm',
    texts.map(({ id }, n) => ({
      id,
      vector: base.map((number, at) => number + (at === n ? 3e-3 : 0)),
    })),
  );
  const distances: number[] = [];
  interceptSql((sql, proceed) => {
    const rows = proceed();
    if (sql.includes('vec_distance_cosine')) distances.push((rows as unknown[]).length);
    return rows;
  });
  for (const limit of [1, 5, 100]) {
    const asked = { space: ALICE.space, embedder: 'm', vector: base, limit };
    expect(await store.factsByVector(asked)).toEqual(await exact.factsByVector(asked));
  }
  // One search measures a few texts. A search measures all texts if the few leave the result
  // uncertain.
  expect(distances[0]).toBeLessThan(count);
  expect(distances).toContain(count);
  for (const each of [store, exact]) await each.close();
});

test('the extension compares vectors if requested, and not otherwise', async () => {
  const ran: string[] = [];
  interceptSql((sql, proceed) => {
    ran.push(sql);
    return proceed();
  });
  for (const vectors of ['exact', 'sqlite-vec'] as const) {
    const store = await openSqlite({ path: newPath(), vectors });
    await store.commit({ ...batchOf([]), facts: [changeOf(ALICE, 1, 10, [{ fact_id: 'a' }])] });
    const [text] = await store.textsToEmbed('m', ALICE.space, 1);
    const vector = new Float32Array([1, 2]);
    await store.putVectors('m', [{ id: text!.id, vector }]);
    ran.length = 0;
    const asked = { space: ALICE.space, embedder: 'm', vector };
    expect(await store.factsByVector(asked)).toHaveLength(1);
    expect(ran.some((sql) => sql.includes('vec_distance'))).toBe(vectors === 'sqlite-vec');
    await store.close();
  }
});

test.each(['create', 'existing', 'readonly'] as const)(
  'a connection loads sqlite-vec and allows no extension after it: %s',
  async (mode) => {
    const path = newPath();
    await (await openSqlite({ path })).close();
    const off = vi.spyOn(DatabaseSync.prototype, 'enableLoadExtension');
    const load = vi.spyOn(DatabaseSync.prototype, 'loadExtension');
    const store = await openSqlite({ path, mode, vectors: 'sqlite-vec' });
    // Once to test whether the extension can be loaded, and once for the file.
    expect(load.mock.contexts.map((db) => db === load.mock.contexts.at(-1))).toEqual([false, true]);
    expect(off.mock.calls).toEqual([[false], [false]]);
    const db = load.mock.contexts.at(-1) as DatabaseSync;
    const library = load.mock.calls[0]![0];
    vi.restoreAllMocks();
    expect(() => db.loadExtension(library)).toThrow(/not allowed/);
    expect(() => db.prepare('SELECT load_extension(?)').get(library)).toThrow(/not authorized/);
    await store.close();
  },
);

test('without it a connection allows no extension at all', async () => {
  const opened = vi.spyOn(DatabaseSync.prototype, 'exec');
  const store = await openSqlite({ path: newPath() });
  const connections = (opened.mock.contexts as DatabaseSync[]).filter((each) => each.isOpen);
  expect(connections).not.toEqual([]);
  for (const db of connections) {
    expect(() => db.enableLoadExtension(true)).toThrow(/disabled at database creation/);
    expect(() => db.loadExtension('any')).toThrow(/not allowed/);
  }
  await store.close();
});

test('an unloadable library is reported with a remedy before opening the file', async () => {
  vi.spyOn(DatabaseSync.prototype, 'loadExtension').mockImplementation(() => {
    throw new Error('of another machine');
  });
  const path = newPath();
  await expect(openSqlite({ path, vectors: 'sqlite-vec' })).rejects.toMatchObject({
    code: 'missing_package',
    message: expect.stringMatching(/of another machine.*use exact vectors/),
  });
  expect(existsSync(path)).toBe(false);
});

test('only a store that needs the package loads it; the error has its name', () => {
  const script = `
    import { registerHooks } from 'node:module';
    let asked = 0;
    registerHooks({ resolve: (specifier, context, next) => {
      if (specifier !== 'sqlite-vec') return next(specifier, context);
      asked += 1;
      throw Object.assign(new Error("Cannot find package 'sqlite-vec'"), { code: 'ERR_MODULE_NOT_FOUND' });
    } });
    const { openStore } = await import('#stores');
    const url = 'sqlite:' + process.argv[1];
    await (await openStore(url)).close();
    const before = asked;
    const error = await openStore(url, { vectors: 'sqlite-vec' }).catch((thrown) => thrown);
    console.log(JSON.stringify({ before, asked, code: error.code, message: error.message }));`;
  const told = execFileSync(process.execPath, ['--input-type=module', '-e', script, newPath()], {
    encoding: 'utf8',
  });
  expect(JSON.parse(told)).toEqual({
    before: 0,
    asked: 1,
    code: 'missing_package',
    message: expect.stringContaining('npm install sqlite-vec'),
  });
});

test('an unknown way to compare vectors is refused', async () => {
  for (const vectors of ['vec', '', 7, null])
    await expect(openSqlite({ path: newPath(), vectors: vectors as never })).rejects.toMatchObject({
      code: 'store_invalid_input',
    });
});
