/**
 * Facts that are found by vectors, on SQLite: by sqlite-vec, beside comparing all that are wanted
 * in this process. Both open one file, are asked the same in turns, and have to find the same.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from 'assize';
import type { FactVectorQuery } from '#ledger';
import type { Store } from '#stores';
import { type BenchResult, median, percentile } from './measure.ts';
import { put, START, saying } from './statements.ts';

const FACTS = 20_000;
const DIMENSIONS = 384;
const QUERIES = 41;
const K = 10;
const AT_ONCE = 1_000;

export async function recallVectorsBench(): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-bench-'));
  const url = `sqlite:${join(folder, 'vectors.db')}`;
  const stores = [await openStore(url, { vectors: 'sqlite-vec' }), await openStore(url)] as const;
  try {
    const vector = vectors();
    await fill(stores[0], vector);
    const name = `recall of ${K} by a vector of ${DIMENSIONS}, ${FACTS} facts`;
    return [
      await result(stores, `${name}: p50`, () => ({
        system: 'now',
        valid: START,
        vector: vector(),
      })),
      await result(stores, `${name}, of one subject: p50`, (n) => ({
        subject: `patient ${n}`,
        vector: vector(),
      })),
    ];
  } finally {
    for (const store of stores) await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fill(store: Store, vector: () => Float32Array): Promise<void> {
  for (let from = 0; from < FACTS; from += AT_ONCE)
    await put(
      store,
      Array.from({ length: AT_ONCE }, (_, n) => saying(from + n, `note ${from + n}`)),
    );
  for (;;) {
    const texts = await store.textsToEmbed('bench', 'bench', AT_ONCE);
    if (texts.length === 0) return;
    await store.putVectors(
      'bench',
      texts.map(({ id }) => ({ id, vector: vector() })),
    );
  }
}

async function result(
  stores: readonly [Store, Store],
  name: string,
  query: (n: number) => Omit<FactVectorQuery, 'space' | 'embedder'>,
): Promise<BenchResult> {
  const micros: [number[], number[]] = [[], []];
  for (let n = 0; n < QUERIES; n += 1) {
    const asked = { space: 'bench', embedder: 'bench', limit: K, ...query(n) };
    const found: string[] = [];
    // In turns, so that neither always finds what the other has read.
    for (const which of n % 2 === 0 ? [0, 1] : [1, 0]) {
      const start = performance.now();
      const hits = await stores[which]!.factsByVector(asked);
      micros[which]!.push((performance.now() - start) * 1_000);
      found.push(JSON.stringify(hits));
    }
    if (found[0] !== found[1])
      throw new Error(`sqlite-vec found other facts than are nearest: ${name}`);
  }
  const [value, exact] = micros.map((each) => percentile(each, 50)) as [number, number];
  const ratio = median(micros[0].map((each, n) => each / micros[1][n]!));
  return { name, value, unit: 'µs', baseline: { name: 'comparing all', value: exact }, ratio };
}

/** The same in every run: vectors around a hundred centres, as texts of some kinds have. */
function vectors(): () => Float32Array {
  let seed = 11;
  const random = (): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return seed / 2 ** 32 - 0.5;
  };
  const centres = Array.from({ length: 100 }, () =>
    Float32Array.from({ length: DIMENSIONS }, random),
  );
  let n = 0;
  return () => centres[n++ % centres.length]!.map((number) => number + random());
}
