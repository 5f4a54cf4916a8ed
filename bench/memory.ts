/**
 * Facts end to end: a proposal of `assize.believe` is adjudicated, planned, and written with its
 * entry. One contradiction is compared with a bare, synced commit of one row. Many are compared
 * with the same number of facts without contradictions. SQLite runs here, PostgreSQL in
 * `memory-postgres.ts`; the written bytes are counted on both.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { BELIEVED_NOW, bareLoop, bareRows } from './facts.ts';
import { histories } from './histories.ts';
import { type BenchResult, compare, formatTable, percentile, rateResult } from './measure.ts';
import { memoryOnPostgres } from './memory-postgres.ts';
import { storageOnSqlite } from './memory-storage.ts';
import { writersBench } from './memory-writers.ts';
import { believed, openWard, said, type Ward } from './ward.ts';

const SMALL = 300;
const LARGE = 100_000;
/** Facts of one proposal, where many are said together. */
const MANY = 16;
const CALLERS = 16;
/** Recalls of one kind in a row. */
const RECALLS = 500;
const SAMPLES = 300;
/**
 * Contradictions before that, so that it is the compiled program that is measured: of these wards,
 * and before them of one that never syncs.
 */
const WARM_UP = 4_000;
const UNSYNCED = 30_000;
/** And so long, where many are said together. */
const WARM_MS = 5_000;

export async function memoryBench(): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-bench-'));
  try {
    const url = (name: string): string => `sqlite:${join(folder, `${name}.db`)}`;
    await warmUp(url('unsynced'));
    const small = await openWard(url('small'), { facts: SMALL });
    const large = await openWard(url('large'), { facts: LARGE });
    const results = [
      ...(await one(join(folder, 'bare.db'), small, large)),
      ...(await recalls(large, join(folder, 'large.db'))),
      ...(await many(large, join(folder, 'loop.db'))),
      ...(await histories(small, 'SQLite')),
    ];
    for (const each of [small, large]) await each.close();
    return [
      ...results,
      ...(await writersBench('SQLite', url('writers'))),
      ...(await storageOnSqlite(join(folder, 'storage.db'))),
      ...(await memoryOnPostgres()),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function warmUp(url: string): Promise<void> {
  const { memories, facts, close } = await openWard(url, { facts: SMALL, durability: 'off' });
  for (let n = 0; n < UNSYNCED; n++)
    await believed(memories[0].assert(said(n % facts, `again ${n}`)));
  await close();
}

/** In alternation, so that each is measured on the same disk in the same state. */
async function one(path: string, small: Ward, large: Ward): Promise<BenchResult[]> {
  const bare = new DatabaseSync(path);
  bare.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE row (id INTEGER PRIMARY KEY, text TEXT)',
  );
  const insert = bare.prepare('INSERT INTO row (text) VALUES (?)');
  const times: [bare: number[], small: number[], large: number[]] = [[], [], []];
  for (let n = 0; n < SAMPLES + WARM_UP; n++) {
    const steps = [
      async () => void insert.run('x'.repeat(600)),
      () => believed(small.memories[0].assert(said((n * 7_919) % small.facts, `again ${n}`))),
      () => believed(large.memories[0].assert(said((n * 7_919) % large.facts, `again ${n}`))),
    ];
    for (const [i, step] of steps.entries()) {
      const start = performance.now();
      await step();
      if (n >= WARM_UP) times[i]!.push((performance.now() - start) * 1_000);
    }
  }
  bare.close();
  const [base, few, lots] = times.map((each) => percentile(each, 50)) as [number, number, number];
  const result = (name: string, value: number, goal?: BenchResult['goal']): BenchResult => ({
    name,
    value,
    unit: 'µs',
    baseline: { name: 'a bare commit of one row', value: base },
    ratio: value / base,
    ...(goal && { goal }),
  });
  return [
    result(`a contradiction, one caller, durable, ${SMALL} facts: p50`, few, { max: base + 120 }),
    result(`a contradiction, one caller, durable, ${LARGE} facts: p50`, lots, { max: base + 120 }),
    {
      name: `a contradiction: ${LARGE} facts, of ${SMALL}`,
      value: lots / few,
      unit: '',
      goal: { max: 2 },
    },
  ];
}

/** Beside a bare statement on the same file, in turns of many. */
async function recalls({ memories: [memory], facts }: Ward, path: string): Promise<BenchResult[]> {
  const bare = new DatabaseSync(path, { readOnly: true });
  const select = bareRows(bare, 'takes', BELIEVED_NOW);
  const times: [recall: number[], bare: number[]] = [[], []];
  const name = (n: number): string => `patient ${(n * 7_919) % facts}`;
  const steps = [
    async (n: number) =>
      (await memory.recall({ subject: name(n), predicate: 'takes', limit: 1 })).facts,
    async (n: number) => select.all(name(n)),
  ];
  try {
    for (let from = 0; from < 20_000; from += RECALLS) {
      for (const [i, step] of steps.entries()) {
        for (let n = from; n < from + RECALLS; n++) {
          const start = performance.now();
          const found = await step(n);
          times[i]!.push((performance.now() - start) * 1_000);
          if (found.length !== 1) throw new Error('a fact is not recalled');
        }
      }
    }
  } finally {
    bare.close();
  }
  const [value, base] = times.map((each) => percentile(each, 50)) as [number, number];
  const baseline = { name: 'a bare statement', value: base };
  return [
    {
      name: `recall of one, by key, ${LARGE} facts: p50`,
      value,
      unit: 'µs',
      baseline,
      ratio: value / base,
    },
  ];
}

async function many({ memories: [memory], facts }: Ward, path: string): Promise<BenchResult[]> {
  let n = 0;
  const writes = (name: string, next: () => ReturnType<typeof said>) => ({
    name,
    run: async (count: number) => {
      let left = Math.ceil(count / MANY);
      await Promise.all(
        Array.from({ length: CALLERS }, async () => {
          while (left-- > 0) await believed(memory.assertMany(Array.from({ length: MANY }, next)));
        }),
      );
    },
  });
  const free = writes('facts that contradict nothing', () => said(n++, `drug ${n}`, 'fresh'));
  const conflicting = writes('facts that contradict one', () =>
    said((n++ * 7_919) % facts, `again ${n}`),
  );
  const bare = bareLoop(path, MANY * CALLERS);
  const contenders = [bare.contender, free, conflicting];
  const [loop, freeRate, conflictingRate] = await compare(contenders, {
    rounds: 7,
    roundMs: 400,
    warmMs: WARM_MS,
  });
  bare.close();
  const how = `${MANY} a proposal, ${CALLERS} callers, durable`;
  return [
    rateResult({ ...freeRate!, name: `facts that contradict nothing, ${how}` }, undefined),
    rateResult({ ...conflictingRate!, name: `facts that contradict one, ${how}` }, freeRate, {
      min: 10_000,
      ratioMin: 0.3,
    }),
    rateResult(
      { ...conflictingRate!, name: `facts that contradict one, ${how}: beside the bare loop` },
      loop,
    ),
  ];
}

if (import.meta.main) console.log(formatTable(await memoryBench()));
