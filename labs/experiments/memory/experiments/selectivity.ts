import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Memory } from 'assize/internal/runtime';
import { type Table, yieldToEventLoop } from '../../tables/index.ts';
import type { Experiment, Running } from '../experiment.ts';
import { committed, type OwnMemory, openOwnMemory } from './own-memory.ts';

/** Less than a recall may give: 10,000. */
const FACTS = 5_000;
/** Of one commit, so that there are 100 instants to look back to. */
const AT_ONCE = 50;
const RUNS = 30;
/** Before those that count. */
const WARMUPS = 3;
const SELECTIVITIES: readonly number[] = [0.01, 0.05, 0.1, 0.25, 0.5, 1];

/**
 * The first and the last mean of the paper, and the exponent that it fits to all means (Table 20).
 */
const PAPER = { ends: [2_373, 115_975], exponent: 0.86 } as const;

export const selectivity: Experiment = {
  name: 'selectivity',
  about:
    'what a recall as of the past costs by how many facts it finds, beside a bare statement on SQLite (table 20)',
  uses: ['runs'],
  run: async (running) => {
    const folder = mkdtempSync(join(tmpdir(), 'assize-selectivity-'));
    try {
      return await selectivityTables(running, join(folder, 'facts.db'));
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

/** The result for one selectivity: times in milliseconds, each the median of its runs. */
interface Looked {
  readonly part: number;
  readonly recall: number;
  readonly bare: number;
  readonly found: number;
}

async function selectivityTables(running: Running, path: string): Promise<readonly Table[]> {
  const runs = running.runs ?? RUNS;
  const steps = FACTS / AT_ONCE + SELECTIVITIES.length;
  let done = 0;
  const step = async (): Promise<void> => {
    running.progress(++done, steps);
    await yieldToEventLoop(running);
  };
  const own = await openOwnMemory({ p: 'lww' }, `${running.seed}`, `sqlite:${path}`);
  try {
    const memory = await own.begin('facts');
    const instants = await fill(own, memory, step);
    using database = new DatabaseSync(path, { readOnly: true });
    const looked: Looked[] = [];
    for (const part of SELECTIVITIES) {
      looked.push(
        await look(
          memory,
          database,
          part,
          instants[Math.round((part * FACTS) / AT_ONCE) - 1]!,
          runs,
        ),
      );
      await step();
    }
    return tablesOf(looked, runs);
  } finally {
    await own.close();
  }
}

/** All of them are believed for good, each of its own subject; the system time of each commit. */
async function fill(
  own: OwnMemory,
  memory: Memory,
  step: () => Promise<void>,
): Promise<readonly string[]> {
  for (let from = 0; from < FACTS; from += AT_ONCE) {
    const said = Array.from({ length: AT_ONCE }, (_, i) => ({
      subject: `subject ${from + i}`,
      predicate: 'p',
      object: `object ${from + i}`,
      valid: { from: AT },
    }));
    await committed(memory.assertMany(said));
    await step();
  }
  const { facts } = await (await own.begin('reader')).recall({ valid: AT, limit: FACTS });
  return [...new Set(facts.map(({ system_time_start }) => system_time_start))].sort();
}

const AT = '2026-04-15T00:00:00.000000Z';

/**
 * Recalls facts as of an instant through the memory, in alternation with a statement on the same
 * file.
 */
async function look(
  memory: Memory,
  database: DatabaseSync,
  part: number,
  system: string,
  runs: number,
): Promise<Looked> {
  // The view is for people with a SQL shell: the twelve columns of a fact.
  const statement = database.prepare(
    `SELECT * FROM facts WHERE row_kind = 'current' AND valid_from <= ? AND valid_to > ?
      AND system_time_start <= ? AND system_time_end > ?`,
  );
  const recall = () => memory.recall({ valid: AT, system, limit: FACTS });
  const bare = () => statement.all(AT, AT, system, system);
  const times: [recall: number[], bare: number[]] = [[], []];
  for (let run = 0; run < WARMUPS + runs; run++)
    for (const [i, read] of [recall, bare].entries()) {
      const started = performance.now();
      await read();
      if (run >= WARMUPS) times[i]!.push(performance.now() - started);
    }
  const found = (await recall()).facts.length;
  if (bare().length !== found) throw new Error('The statement does not find what the memory does.');
  return { part, recall: median(times[0]), bare: median(times[1]), found };
}

function tablesOf(looked: readonly Looked[], runs: number): readonly Table[] {
  const whole = looked.at(-1)!;
  return [
    {
      source: 'Figure 8, Table 20',
      title:
        'time of a recall as of a past instant, beside that of everything and that of a bare statement',
      digits: 3,
      keys: ['selectivity'],
      columns: ['of everything', 'of a bare statement'],
      rows: looked.map(({ part, recall, bare }) => ({
        keys: [part],
        cells: [{ measured: recall / whole.recall, ...paperOf(part) }, { measured: recall / bare }],
      })),
      notes: [
        `The median of ${runs} recalls after ${WARMUPS} that do not count, of ${FACTS.toLocaleString('en-US')} facts on SQLite; everything takes ${whole.recall.toFixed(1)} ms here. In turns with them a statement reads the same rows of the same file. The paper’s are of DuckDB, as parts of its read of everything, and nothing is expected of ours.`,
      ],
      plot: { sort: 'line', x: 'selectivity', y: 'part' },
    },
    {
      source: 'Figure 8',
      title: 'facts that such a recall finds',
      keys: ['selectivity'],
      columns: ['facts'],
      rows: looked.map(({ part, found }) => ({
        keys: [part],
        cells: [{ measured: found, expected: Math.round(part * FACTS) }],
      })),
      notes: [],
    },
    {
      source: 'Table 20',
      title: 'the exponent of time by selectivity',
      keys: ['read'],
      columns: ['exponent'],
      rows: [
        {
          keys: ['recall'],
          cells: [{ measured: slope(looked, ({ recall }) => recall), paper: PAPER.exponent }],
        },
        { keys: ['bare statement'], cells: [{ measured: slope(looked, ({ bare }) => bare) }] },
      ],
      notes: ['1: twice as many facts take twice as long. By least squares of logarithms.'],
    },
  ];
}

function paperOf(part: number): { readonly paper?: number } {
  const [first, last] = PAPER.ends;
  if (part === SELECTIVITIES[0]) return { paper: first / last };
  return part === 1 ? { paper: 1 } : {};
}

function median(times: number[]): number {
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)]!;
}

function slope(looked: readonly Looked[], timeOf: (one: Looked) => number): number {
  const points = looked.map((one) => [Math.log(one.part), Math.log(timeOf(one))] as const);
  const mean = (of: 0 | 1): number =>
    points.reduce((sum, point) => sum + point[of], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const along = points.reduce((sum, [a, b]) => sum + (a - x) * (b - y), 0);
  return along / points.reduce((sum, [a]) => sum + (a - x) ** 2, 0);
}
