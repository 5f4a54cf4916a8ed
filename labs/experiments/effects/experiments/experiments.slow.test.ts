import { describe, expect, test } from 'vitest';
import type { Cell, Table } from '../../tables/index.ts';
import type { Experiment } from '../experiment.ts';
import { SIX_COLUMNS } from '../metrics.ts';
import { MODES } from '../modes.ts';
import { ablation } from './ablation.ts';
import { branches } from './branches.ts';
import { EXPERIMENTS } from './index.ts';
import { mock } from './mock.ts';
import { multiRate } from './multi-rate.ts';
import { overhead } from './overhead.ts';
import { recovery } from './recovery.ts';
import { retryBudget } from './retry-budget.ts';
import { sanity } from './sanity.ts';
import { scaledMock } from './scaled-mock.ts';
import { expectDrawn, expectSources, SOURCES } from './testing/table-sources.ts';

const OF_THE_CORE = [
  mock,
  scaledMock,
  branches,
  recovery,
  ablation,
  sanity,
  multiRate,
  retryBudget,
  overhead,
];
/** Their figures are of this machine. */
const OF_TIME: readonly Experiment[] = [branches, overhead];

async function run(experiment: Experiment, scale: number, seed = 1): Promise<readonly Table[]> {
  const told: number[] = [];
  const tables = await experiment.run({
    seed,
    scale,
    data: './nowhere',
    signal: new AbortController().signal,
    progress: (done, of) => told.push(done / of),
  });
  expect(told).toEqual(told.toSorted((a, b) => a - b));
  expect(told.at(-1)).toBe(1);
  return tables;
}

/** As it was run before, where it was: it comes out the same again. */
function ran(experiment: Experiment, scale: number): Promise<readonly Table[]> {
  const name = `${experiment.name} ${scale}`;
  const tables = RAN.get(name) ?? run(experiment, scale);
  RAN.set(name, tables);
  return tables;
}

const RAN = new Map<string, Promise<readonly Table[]>>();

/** The cell of a row, by its keys, and a column. */
function at({ rows, columns }: Table, keys: readonly (string | number)[], column: string): Cell {
  const row = rows.find((each) =>
    each.keys.every((key, i) => keys[i] === undefined || key === keys[i]),
  );
  return row!.cells[columns.indexOf(column)]!;
}

test('each is registered under a name of its own, and all are there', () => {
  const names = EXPERIMENTS.map(({ name }) => name);
  expect(names).toEqual(Object.keys(SOURCES));
  for (const experiment of OF_THE_CORE) expect(EXPERIMENTS).toContain(experiment);
  for (const { name } of EXPERIMENTS) expect(name).toMatch(/^[a-z][a-z-]*$/);
});

test('together they cover every measured table of the paper, and topics beyond', () => {
  const sources = new Set(Object.values(SOURCES).flat());
  // Of its appendices, A.7 to A.9 are tables 7 to 12. Table 13 is of documentation.
  const tables = Array.from({ length: 12 }, (_, i) => `Table ${i + 1}`);
  for (const source of [...tables, 'A.6', 'A.10']) expect(sources).toContain(source);
  for (const about of [
    'Aliases',
    'Compensations',
    'Correlated faults',
    'Annotation errors',
    'Crash windows',
  ])
    expect([...sources].filter((source) => source.startsWith(`${about} (`))).toHaveLength(1);
  for (const source of sources)
    expect(source).toMatch(/^(Table \d+|A\.\d+|RQ2|Gate|§[\d.]+|\D+ \((§[\d.]+|A\.\d+)\))$/);
});

describe.each(OF_THE_CORE.map((experiment) => [experiment.name, experiment] as const))(
  '%s',
  (_, experiment) => {
    test('has a cell for each column of each row, and says where it is from', async () => {
      const tables = await ran(experiment, 0.01);
      expectSources(experiment.name, tables);
      for (const { keys, columns, rows } of tables) {
        expect(rows.length).toBeGreaterThan(0);
        for (const row of rows) {
          expect(row.keys).toHaveLength(keys.length);
          expect(row.cells).toHaveLength(columns.length);
          for (const { measured } of row.cells) expect(measured).toBeGreaterThanOrEqual(0);
        }
      }
      const cells = tables.flatMap(({ rows }) => rows.flatMap((row) => row.cells));
      expect(cells.some(({ paper }) => paper !== undefined)).toBe(true);
      await expectDrawn(tables);
    });

    test('stops on its abort signal', async () => {
      const stopped = new Error('enough');
      const controller = new AbortController();
      const progress = (): void => controller.abort(stopped);
      const data = './nowhere';
      await expect(
        experiment.run({ seed: 1, scale: 1, data, signal: controller.signal, progress }),
      ).rejects.toBe(stopped);
    });
  },
);

test.each(
  OF_THE_CORE.filter((each) => !OF_TIME.includes(each)).map((each) => [each.name, each] as const),
)('%s comes out the same again, and with another seed not', async (_, experiment) => {
  // Its six tasks are few.
  const scale = experiment === sanity ? 1 : 0.05;
  const [one, again, other] = [
    await ran(experiment, scale),
    await run(experiment, scale),
    await run(experiment, scale, 3),
  ];
  expect(again).toEqual(one);
  expect(other).not.toEqual(one);
});

/** Of tasks in environments of their own, by how many settings each has. */
const OF_TASKS: readonly (readonly [Experiment, number])[] = [
  [mock, 6],
  [scaledMock, 3],
  [recovery, 8],
  [ablation, 1],
  [sanity, 3],
  [multiRate, 6],
  [retryBudget, 6],
];

test.each(
  OF_TASKS.map(([experiment, settings]) => [experiment.name, experiment, settings] as const),
)(
  'six metrics of %s exist per setting and mode and match the table above',
  async (_, experiment, settings) => {
    const tables = await ran(experiment, experiment === sanity ? 1 : 0.05);
    const sixes = tables.filter(({ columns }) => columns === SIX_COLUMNS);
    expect(sixes).toHaveLength(experiment === sanity ? 1 : 2);
    for (const six of sixes) {
      const modes = six.rows.map(({ keys }) => keys.at(-1));
      expect(modes).toEqual(
        Array.from({ length: settings }, () => MODES.map(({ name }) => name)).flat(),
      );
      expect(new Set(six.rows.map(({ keys }) => keys.join(' '))).size).toBe(six.rows.length);
      const above = tables
        .slice(0, tables.indexOf(six))
        .findLast(({ title }) => /done|^retry|^correct/.test(title))!;
      const column = above.title.startsWith('correct') ? 'correct' : 'done';
      for (const { keys } of six.rows) {
        const [setting, mode] = [keys.slice(0, -1), String(keys.at(-1))];
        const same = above.keys.includes('mode')
          ? at(above, [mode], experiment === ablation ? 'success (%)' : String(setting[0]))
          : at(above, setting, mode);
        const of = (name: string): number => at(six, keys, name).measured as number;
        expect([keys, of(column)]).toEqual([keys, same.measured]);
        // A correct task has all steps present and right. Transactions have no wrong steps.
        expect(of('correct')).toBeLessThanOrEqual(
          Math.min(of('steps there'), 100 - of('steps wrong')),
        );
        expect(of('errors told') === 0).toBe(of('done') === 100);
        if (/^Tx|^No-Frontier/.test(mode)) expect([keys, of('steps wrong')]).toEqual([keys, 0]);
      }
    }
  },
);

test('overhead: a step costs something in each of the five modes', async () => {
  const [table] = await ran(overhead, 0.01);
  expect(table!.columns).toEqual([...MODES.map(({ name }) => name), 'coordination alone']);
  for (const { cells } of table!.rows)
    for (const { measured } of cells) expect(measured).toBeGreaterThan(0);
});

describe('recovery', () => {
  test('Tx-Full with 20 retries is always correct; without retry chance decides', async () => {
    const [correct, , , inThePaper] = await ran(recovery, 0.4);
    for (const fp of [0, 0.1, 0.3, 0.5]) {
      expect(at(correct!, [20, fp], 'Tx-Full').measured).toBe(100);
      expect(at(inThePaper!, [20, fp], 'Tx-Full').measured).toBe(100);
      const theory = (1 - fp) ** 10;
      for (const mode of ['No-Frontier', 'No-Tx']) {
        // Five standard errors.
        const off = Math.abs((at(inThePaper!, [3, fp], mode).measured as number) / 100 - theory);
        expect(off).toBeLessThanOrEqual(5 * Math.sqrt((theory * (1 - theory)) / 40));
      }
    }
  });

  test('transactions leave no wrong values, calls without transactions do', async () => {
    const [, corrupt, , , inThePaper] = await ran(recovery, 0.4);
    for (const table of [corrupt!, inThePaper!]) {
      for (const mode of ['Tx-Full', 'CR', 'No-Frontier', 'Tx-NoFrontier+Retry'])
        for (const { cells } of table.rows)
          expect(cells[table.columns.indexOf(mode)]!.measured).toBe(0);
      expect(at(table, [3, 0.3], 'No-Tx').measured).toBeGreaterThan(0);
    }
  });
});

describe('mock', () => {
  test('with the paper’s budget, transactions are done as chance has it', async () => {
    const [, , , inThePaper] = await ran(mock, 0.4);
    for (const fp of [0.1, 0.3, 0.5]) {
      const theory = (1 - fp ** 4) ** 10;
      const measured = (at(inThePaper!, ['WebArena', fp], 'Tx-Full').measured as number) / 100;
      expect(Math.abs(measured - theory)).toBeLessThanOrEqual(
        5 * Math.sqrt((theory * (1 - theory)) / 40),
      );
    }
  });

  test('a checkpoint without the server leaves wrong states, a transaction none', async () => {
    const [, correct] = await ran(mock, 0.4);
    expect(at(correct!, ['WebArena', 0.3], 'CR').measured).toBeLessThan(70);
    expect(at(correct!, ['WebArena', 0.1], 'Tx-Full').measured).toBe(100);
  });
});

test('retries: more are never worse, 20 suffice; without retry nothing changes', async () => {
  for (const table of (await run(retryBudget, 1)).filter(({ keys }) => !keys.includes('mode'))) {
    const measuredIn = (mode: string) =>
      table.rows.map((row) => at(table, row.keys, mode).measured as number);
    for (const { name, retry } of MODES) {
      const measured = measuredIn(name);
      expect(measured).toEqual(
        retry ? measured.toSorted((a, b) => a - b) : measured.map(() => measured[0]),
      );
      expect(measured.at(-1) === 100).toBe(retry);
    }
    expect(measuredIn('Tx-NoFrontier+Retry')).toEqual(measuredIn('Tx-Full'));
  }
});

test('sanity: without faults, no mode fails', async () => {
  const [table] = await ran(sanity, 1);
  for (const { cells } of table!.rows) expect(cells[0]).toMatchObject({ measured: 100, within: 0 });
});

test('ablation: without conflicts the frontier adds nothing, retry adds all', async () => {
  for (const table of (await run(ablation, 1)).filter(({ columns }) =>
    columns.includes('success (%)'),
  )) {
    const cellsOf = (mode: string): readonly Cell[] =>
      table.rows.find(({ keys }) => keys[0] === mode)!.cells;
    expect(cellsOf('Tx-NoFrontier+Retry').map(({ measured }) => measured)).toEqual(
      cellsOf('Tx-Full').map(({ measured }) => measured),
    );
    expect(cellsOf('No-Frontier')[0]!.measured).toBeLessThan(50);
  }
});
