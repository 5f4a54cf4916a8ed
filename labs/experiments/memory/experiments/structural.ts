import { seededRandom } from 'assize/internal/oracle';
import { type Table, yieldToEventLoop } from '../../tables/index.ts';
import type { Experiment, Running } from '../experiment.ts';
import { boundOf, gridTable } from '../grid-table.ts';
import {
  bridgeGrid,
  counterfactual,
  defences,
  driftGrid,
  extraSchedules,
  type Grid,
  isoMatrix,
  operatorAblation,
  oracleVariance,
  schemaAxis,
  schemaByCarrier,
  tokenRecall,
  trajectory,
  weakening,
} from '../schedules/index.ts';

/** Of the paper’s grids (Table 23), and of our own where the paper has too few or does not say. */
const SCHEDULES = 100;
const DRIFTS = 200;
const PAIRS = 500;
const TRAJECTORIES = 200;
const BRIDGES = 1_000;
const INSTANCES = 375;
const TRIALS = 50;

export const isolation: Experiment = {
  name: 'isolation',
  about:
    'nine anomalies under six levels, 54 cells, and schedules as they are printed beside them (theorem 3)',
  run: inParts([
    ({ seed, runs = SCHEDULES }) => {
      const grid = isoMatrix(seededRandom(seed), runs);
      return [
        gridTable(grid, {
          source: 'Theorem 3, Table 3',
          title: 'schedules that admit the anomaly, by level',
          keys: ['anomaly'],
          column: 'level',
          notes: [
            `${runs} schedules a cell: the witness, merged by chance with others. The expected value of a cell follows from the guards of Table 3; the paper prints no single one.`,
          ],
          plot: { sort: 'bar', x: 'anomaly', y: 'admitted' },
        }),
        countsTable(grid),
      ];
    },
    ({ seed, runs = SCHEDULES }) => {
      const grid = extraSchedules(seededRandom(seed), runs);
      const isBelow = ({ cell }: Grid['rows'][number]): boolean => cell['level'] === 'none';
      return [
        gridTable(
          { ...grid, rows: grid.rows.filter((row) => !isBelow(row)) },
          {
            source: 'B.5.1, Corollary 5, E.6',
            title: 'schedules as the paper prints or measures them, beside those of the matrix',
            keys: ['schedule'],
            column: 'level',
            notes: [
              'In the matrix A5A is r1[x] w2[x] w2[y] c2 r1[y] c1, and N2 two revisions of confidence. The expected value of a cell follows from definitions; the paper prints no figure of a schedule.',
            ],
          },
        ),
        gridTable(
          renamed({ ...grid, rows: grid.rows.filter(isBelow) }, 'level', { none: 'below RC' }),
          {
            source: 'Proposition 2',
            title: 'what RC excludes, below it',
            keys: ['schedule'],
            column: 'level',
            notes: [],
          },
        ),
      ];
    },
  ]),
};

/**
 * The counts that Table 23 prints: cells of the matrix that admit their anomaly in none of their
 * schedules, and in all of them.
 */
const COUNTS: readonly (readonly [admitted: string, part: number, paper: number])[] = [
  ['in no schedule', 0, 32],
  ['in every schedule', 1, 22],
];

function countsTable({ rows }: Grid): Table {
  return {
    source: 'Table 23',
    title: 'cells of that, by where the anomaly is admitted',
    keys: ['admitted'],
    columns: ['cells'],
    rows: COUNTS.map(([admitted, part, paper]) => {
      const measured = rows.filter(({ found }) => found === part).length;
      return {
        keys: [admitted],
        cells: [
          { measured, expected: rows.filter(({ expected }) => expected === part).length, paper },
        ],
      };
    }),
    notes: [],
  };
}

export const schema: Experiment = {
  name: 'schema',
  about:
    'audit erasure (N3) under six levels and two schemas, 12 cells, and by carrier (theorem 7)',
  run: inParts([
    ({ seed, runs = SCHEDULES }) => [
      gridTable(schemaAxis(seededRandom(seed), runs), {
        source: 'Table 23',
        title: 'schedules that erase a loser, by level and schema',
        keys: ['level'],
        column: 'schema',
        notes: [
          `${runs} schedules a cell. Erased: its row is not to be found, or provenance there does not name its write.`,
        ],
        plot: { sort: 'bar', x: 'level', y: 'erased' },
      }),
    ],
    ({ seed, runs = SCHEDULES }) => [
      gridTable(schemaByCarrier(seededRandom(seed), runs), {
        source: 'Theorem 7, Proposition 8',
        title: 'the same by the paper’s own predicate, in each carrier',
        keys: ['carrier'],
        column: 'schema',
        notes: [
          'The expected value of a cell follows from the predicate; the paper prints no figure by carrier.',
        ],
      }),
    ],
  ]),
};

export const drift: Experiment = {
  name: 'drift',
  about: 'belief drift (N2) by level, size of the partition and contention, 36 cells (corollary 5)',
  run: inParts([
    ({ seed, runs = DRIFTS }) => {
      const grid = driftGrid(seededRandom(seed), runs);
      return [
        gridTable(grid, {
          source: 'Table 23',
          title: 'schedules after which the belief is wrong, by contention',
          keys: ['level', 'size'],
          column: 'contention',
          runs,
          notes: [
            `${runs} schedules a cell. What RC and SI admit tends to the contention, whatever the size; a cell may be ${away(runs)} away from it.`,
          ],
          plot: { sort: 'line', x: 'size', y: 'wrong' },
        }),
        meansTable(grid, runs),
      ];
    },
  ]),
};

/** Table 23 prints means over sizes and contentions. */
const MEANS: Readonly<Record<string, number>> = { RC: 0.7496, SI: 0.7462, SR: 0 };

function meansTable(grid: Grid, runs: number): Table {
  return {
    source: 'Table 23',
    title: 'the same, means over sizes and contentions',
    digits: 4,
    keys: ['level'],
    columns: ['mean'],
    rows: Object.entries(MEANS).map(([level, paper]) => {
      const rows = grid.rows.filter(({ cell }) => cell['level'] === level);
      const expected = meanOf(rows.map((row) => row.expected));
      // Certain cells add no spread. Their inclusion makes the bound wider than necessary.
      const tolerance = boundOf(expected, rows.length * runs);
      return {
        keys: [level],
        cells: [{ measured: meanOf(rows.map(({ found }) => found)), expected, tolerance, paper }],
      };
    }),
    notes: ['The paper’s schedules are of a generator that is not published.'],
  };
}

export const oracle: Experiment = {
  name: 'oracle',
  about:
    'a judge that answers by chance: how often two answers differ, and how long many agree (figures 5 and 6)',
  run: inParts([
    ({ seed, runs = PAIRS }) => {
      const grid = oracleVariance(seededRandom(seed), runs);
      return [
        gridTable(asPercent(withClosedForm(grid, '2p(1 − p)'), 'p'), {
          source: 'Figure 5, Theorem 17',
          title:
            'pairs of judgements of one question that differ, by how often the judge says yes (%)',
          keys: ['p'],
          column: 'log',
          runs,
          notes: [
            `${runs} pairs a cell. Without a log that tends to 2p(1 − p); with one it never happens (the paper: in none of 245 pairs). Its five systems without a log are reported to differ in 0.167 to 0.204 of theirs, and one at temperatures of 0.5 to 1.5 in 0.32 to 0.34. The thirty p of the paper are those of language models, and are not printed; ours are spread evenly.`,
          ],
          plot: { sort: 'line', x: 'p', y: 'differing' },
        }),
        calibrationTable(grid, runs),
      ];
    },
    ({ seed, runs = TRAJECTORIES }) => {
      const grid = trajectory(seededRandom(seed), runs);
      return [
        gridTable(withClosedForm(grid, 'C(t)'), {
          source: 'Figure 6',
          title: 'questions whose judgements all agree, by how many there are',
          keys: ['t'],
          column: 'log',
          runs: runs * QUESTIONS,
          notes: [
            `${runs} runs of ${QUESTIONS} questions each, whose p are spread evenly. C(t) = E[p^t + (1 − p)^t].`,
          ],
          plot: { sort: 'line', x: 't', y: 'agreeing' },
        }),
      ];
    },
  ]),
};

/** Of a trajectory, as many as it averages over. */
const QUESTIONS = 20;

/**
 * The distance of the measured rates from the closed form, in the paper's summary figures. All
 * figures of the paper are from language models.
 */
function calibrationTable(grid: Grid, runs: number): Table {
  const rows = grid.rows.filter(({ cell }) => cell['log'] === 'none');
  const away = rows.map(({ found, expected }) => Math.abs(found - expected));
  const mean = meanOf(rows.map(({ found }) => found));
  const squares = (of: (row: Grid['rows'][number]) => number): number =>
    rows.reduce((sum, row) => sum + of(row) ** 2, 0);
  const fit =
    1 - squares(({ found, expected }) => found - expected) / squares(({ found }) => found - mean);
  return {
    source: 'Figure 5, Table 23',
    title: 'how near that is to 2p(1 − p)',
    digits: 4,
    keys: ['figure'],
    columns: ['without a log'],
    rows: [
      { keys: ['mean distance'], cells: [{ measured: meanOf(away), paper: 0.0166 }] },
      { keys: ['greatest distance'], cells: [{ measured: Math.max(...away), paper: 0.1114 }] },
      {
        keys: ['cells within 0.10, of 30'],
        cells: [{ measured: away.filter((one) => one <= 0.1).length, paper: 29 }],
      },
      { keys: ['R²'], cells: [{ measured: fit, paper: 0.98 }] },
    ],
    notes: [
      `${runs} pairs a cell; the paper has 50 votes of language models a cell, so its figures are reported and nothing is expected of ours.`,
    ],
  };
}

export const bridge: Experiment = {
  name: 'bridge',
  about: 'the judge-callback bridge (lemma 4) on 1,000 random schedules of twelve events',
  run: inParts([
    ({ seed, runs = BRIDGES }) => [
      gridTable(atAnyLevel(bridgeGrid(seededRandom(seed), runs)), {
        source: 'Lemma 4, Table 23',
        title: 'schedules that pass a check, by level',
        keys: ['check'],
        column: 'level',
        notes: [
          `${runs} schedules. isClassical: their images have classical events only. keepsConflicts: the conflicts on the operands are the same. isEquivalent: judgements of a question differ iff its row has a fuzzy read or a phantom. keepsKeys: each question has a row of its own. The paper has a rate for each of the first three, and does not say at which level.`,
        ],
        plot: { sort: 'bar', x: 'check', y: 'passing' },
      }),
    ],
  ]),
};

/** Table 23 prints a pass rate of 1.00 for each of these. */
const PASSING: readonly string[] = ['isClassical', 'keepsConflicts', 'isEquivalent'];

/** With a column more: the levels together. The paper has a figure of it. */
function atAnyLevel(grid: Grid): Grid {
  const together = [...Map.groupBy(grid.rows, ({ cell }) => cell['check']!)].map(
    ([check, rows]) => ({
      cell: { check, level: 'any' },
      expected: 1,
      found: meanOf(rows.map(({ found }) => found)),
      ...(PASSING.includes(String(check)) && { reported: 1 }),
    }),
  );
  return { ...grid, rows: [...grid.rows, ...together] };
}

export const carriers: Experiment = {
  name: 'carriers',
  about:
    'three carriers of provenance: defences, recall, and what a deletion leaves (tables 5 and 22)',
  run: inParts([
    ({ seed, runs = SCHEDULES }) => [
      gridTable(defences(seededRandom(seed), runs), {
        source: 'Table 22',
        title: 'schedules in which a defence, alone, excludes the anomaly',
        keys: ['carrier', 'defence'],
        column: 'target',
        notes: [`${runs} schedules a cell.`],
        plot: { sort: 'bar', x: 'defence', y: 'excluded' },
      }),
      gridTable(labelled(tokenRecall(seededRandom(seed), runs), 'recall'), {
        source: 'Table 22',
        title: 'of the writes that audit rows rest on, the part that the carrier names',
        keys: ['carrier'],
        column: 'figure',
        notes: [],
      }),
    ],
    ({ seed, runs = INSTANCES }) => [
      gridTable(labelled(counterfactual(seededRandom(seed), runs), 'recovered'), {
        source: 'Theorem 11, Table 22',
        title: 'answers from which a row can be taken away once',
        keys: ['carrier'],
        column: 'figure',
        notes: [
          `${runs} answers, of logs that have the row twice or three times. The accuracies that the paper prints beside these, 0.683 and 0.345, have no rule that they could be computed by.`,
        ],
      }),
    ],
  ]),
};

export const weakened: Experiment = {
  name: 'weakening',
  about: 'each operator below the level that it declares, and at it (table 9)',
  uses: [],
  run: inParts([
    () => {
      const grid = weakening();
      const pairs = [...Map.groupBy(grid.rows, ({ cell }) => String(cell['history']))];
      return [
        {
          source: 'Table 9',
          title: 'whether the failure shows below the declared level, and at it',
          keys: ['history', 'operator', 'weakened to', 'declared'],
          columns: ['below', 'at it'],
          rows: pairs.map(([history, [below, at]]) => ({
            keys: [
              history,
              String(below!.cell['operator']),
              String(below!.cell['level']),
              String(at!.cell['level']),
            ],
            cells: [below!, at!].map(({ found, expected }) => ({ measured: found, expected })),
          })),
          notes: [
            '1: exposed. The histories are the minimal ones of the table, which has no figures: that the failure shows below the declared level and not at it is what follows from what it declares.',
          ],
          plot: { sort: 'bar', x: 'history', y: 'exposed', keys: [] },
        },
      ];
    },
  ]),
};

export const ablation: Experiment = {
  name: 'ablation',
  about: 'which operator finds the truth in which workload (table 21)',
  run: inParts([
    ({ seed, runs = TRIALS }) => [
      gridTable(operatorAblation(seededRandom(seed), runs), {
        title: 'contradictions that end with the true fact, by workload',
        keys: ['operator'],
        column: 'workload',
        runs,
        notes: [
          `${runs} trials a cell, settled by the package’s own plans. In N1 a person knows the truth, in N2 the confidence, in N3 a policy, each wrong in 5 % of all trials; the two others are right by chance, and what was said last is wrong but for 5 %. A cell may be ${away(runs)} away from what it tends to: 0.05, 0.5 or 0.95.`,
        ],
        plot: { sort: 'bar', x: 'operator', y: 'right' },
      }),
    ],
  ]),
};

/** Runs synchronous computations part by part, and checks the abort signal between two parts. */
function inParts(
  parts: readonly ((running: Running) => readonly Table[])[],
): (running: Running) => Promise<readonly Table[]> {
  return async (running) => {
    const tables: Table[] = [];
    for (const [i, part] of parts.entries()) {
      await yieldToEventLoop(running);
      tables.push(...part(running));
      running.progress(i + 1, parts.length);
    }
    return tables;
  };
}

/** With a coordinate that names the one column. */
function labelled(grid: Grid, figure: string): Grid {
  return { ...grid, rows: grid.rows.map((row) => ({ ...row, cell: { ...row.cell, figure } })) };
}

/** A coordinate from 0 to 1, in per cent and without more digits than can be read. */
function asPercent(grid: Grid, of: string): Grid {
  const rows = grid.rows.map((row) => ({
    ...row,
    cell: { ...row.cell, [of]: percent(Number(row.cell[of])) },
  }));
  return { ...grid, rows };
}

function percent(part: number): number {
  return Math.round(1_000 * part) / 10;
}

/** The distance that a random cell can have from its limit, as notes state it. */
function away(runs: number): string {
  return boundOf(0.5, runs).toFixed(2);
}

/** With the values of a coordinate called otherwise. */
function renamed(grid: Grid, of: string, names: Readonly<Record<string, string>>): Grid {
  const rows = grid.rows.map((row) => ({
    ...row,
    cell: { ...row.cell, [of]: names[String(row.cell[of])]! },
  }));
  return { ...grid, rows };
}

/** Adds a column with the limits of the cells without a log. */
function withClosedForm(grid: Grid, form: string): Grid {
  const closed = grid.rows
    .filter(({ cell }) => cell['log'] === 'none')
    .map(({ cell, expected }) => ({ cell: { ...cell, log: 'closed' }, expected, found: expected }));
  return renamed({ ...grid, rows: [...grid.rows, ...closed] }, 'log', { ...LOGS, closed: form });
}

const LOGS = { keyed: 'with a log', none: 'without a log' };

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
