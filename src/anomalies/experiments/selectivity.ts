import { DatabaseSync } from 'node:sqlite';
import { breath, type Table } from 'assize/tables';
import type { Experiment, Running } from '../experiment.ts';

const ROWS = 100_000;
const RUNS = 30;
/** Before those that count. */
const WARMUPS = 3;
const SELECTIVITIES: readonly number[] = [0.01, 0.05, 0.1, 0.25, 0.5, 1];
/** Rows of one insertion. */
const AT_ONCE = 10_000;

/** Of the paper: the first and the last of its means, and the exponent that it fits to all (Table 20). */
const PAPER = { ends: [2_373, 115_975], exponent: 0.86 } as const;

export const selectivity: Experiment = {
  name: 'selectivity',
  about: 'what looking back costs by how many rows it finds, beside a full scan, on bare rows in SQLite (table 20)',
  run: async (running) => {
    using database = new DatabaseSync(':memory:');
    // Waited for, so that it is closed after that.
    return await selectivityTables(running, database);
  },
};

async function selectivityTables(running: Running, database: DatabaseSync): Promise<readonly Table[]> {
  const runs = running.runs ?? RUNS;
  const steps = ROWS / AT_ONCE + SELECTIVITIES.length + 1;
  let done = 0;
  const step = async (): Promise<void> => {
    running.progress(++done, steps);
    await breath(running);
  };
  await fill(database, step);
  const times: number[] = [];
  const found: number[] = [];
  for (const part of SELECTIVITIES) {
    const at = Math.round(part * ROWS);
    const asOf = database.prepare(
      'SELECT count(*) AS rows, sum(length(object)) FROM facts WHERE system_time_start < ? AND system_time_end > ? AND valid_from <= 0 AND valid_to > 0',
    );
    times.push(timed(runs, () => asOf.get(at, at)));
    found.push(Number(asOf.get(at, at)!['rows']));
    await step();
  }
  const scan = database.prepare('SELECT count(*), sum(length(object)) FROM facts NOT INDEXED');
  const whole = timed(runs, () => scan.get());
  await step();
  return [
    {
      source: 'Figure 8, Table 20',
      title: 'time of a read as of a past instant, as a part of the time of a full scan',
      digits: 3,
      keys: ['selectivity'],
      columns: ['of a full scan'],
      rows: SELECTIVITIES.map((part, i) => ({
        keys: [part],
        cells: [{ measured: times[i]! / whole, ...paperOf(part) }],
      })),
      notes: [
        `The median of ${runs} reads after ${WARMUPS} that do not count, of ${ROWS.toLocaleString('en-US')} rows in memory with an index on system time; a full scan takes ${milliseconds(whole)} here. The paper’s are of DuckDB, as parts of its read of everything, and nothing is expected of ours.`,
      ],
      plot: { sort: 'line', x: 'selectivity', y: 'of a full scan' },
    },
    {
      source: 'Figure 8',
      title: 'rows that such a read finds',
      keys: ['selectivity'],
      columns: ['rows'],
      rows: SELECTIVITIES.map((part, i) => ({
        keys: [part],
        cells: [{ measured: found[i]!, expected: Math.round(part * ROWS) }],
      })),
      notes: [],
    },
    {
      source: 'Table 20',
      title: 'the exponent of time by selectivity',
      keys: ['fit'],
      columns: ['exponent'],
      rows: [{ keys: ['least squares of logarithms'], cells: [{ measured: slope(times), paper: PAPER.exponent }] }],
      notes: ['1: twice as many rows take twice as long.'],
    },
  ];
}

function paperOf(part: number): { readonly paper?: number } {
  const [first, last] = PAPER.ends;
  if (part === SELECTIVITIES[0]) return { paper: first / last };
  return part === 1 ? { paper: 1 } : {};
}

/** One row a tick, all of them open: as of the n-th tick there are n. */
async function fill(database: DatabaseSync, step: () => Promise<void>): Promise<void> {
  database.exec(`CREATE TABLE facts (fact_id INTEGER PRIMARY KEY, object TEXT NOT NULL, valid_from INTEGER NOT NULL,
    valid_to INTEGER NOT NULL, system_time_start INTEGER NOT NULL, system_time_end INTEGER NOT NULL)`);
  const insert = database.prepare('INSERT INTO facts VALUES (?, ?, 0, 1000000000, ?, 1000000000)');
  for (let from = 0; from < ROWS; from += AT_ONCE) {
    database.exec('BEGIN');
    for (let i = from; i < from + AT_ONCE; i++) insert.run(i, `object ${i}`, i);
    database.exec('COMMIT');
    await step();
  }
  database.exec('CREATE INDEX facts_by_system_time ON facts (system_time_start)');
}

/** The median of so many, in milliseconds. */
function timed(runs: number, read: () => unknown): number {
  for (let i = 0; i < WARMUPS; i++) read();
  const times = Array.from({ length: runs }, () => {
    const started = performance.now();
    read();
    return performance.now() - started;
  });
  return times.sort((a, b) => a - b)[Math.floor(runs / 2)]!;
}

function slope(times: readonly number[]): number {
  const points = SELECTIVITIES.map((part, i) => [Math.log(part), Math.log(times[i]!)] as const);
  const mean = (of: 0 | 1): number => points.reduce((sum, point) => sum + point[of], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const along = points.reduce((sum, [a, b]) => sum + (a - x) * (b - y), 0);
  return along / points.reduce((sum, [a]) => sum + (a - x) ** 2, 0);
}

function milliseconds(time: number): string {
  return `${time.toFixed(1)} ms`;
}
