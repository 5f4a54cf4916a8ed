import type { Cell, Table } from 'assize/tables';
import { describe, expect, test } from 'vitest';
import type { Experiment } from '../experiment.ts';
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

const OF_THE_CORE = [mock, scaledMock, branches, recovery, ablation, sanity, multiRate, retryBudget, overhead];
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

/** The cell of a row, by its keys, and a column. */
function at({ rows, columns }: Table, keys: readonly (string | number)[], column: string): Cell {
  const row = rows.find((each) => each.keys.every((key, i) => keys[i] === undefined || key === keys[i]));
  return row!.cells[columns.indexOf(column)]!;
}

test('each is registered under a name of its own', () => {
  const names = EXPERIMENTS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const experiment of OF_THE_CORE) expect(EXPERIMENTS).toContain(experiment);
  for (const { name } of EXPERIMENTS) expect(name).toMatch(/^[a-z][a-z-]*$/);
});

describe.each(OF_THE_CORE.map((experiment) => [experiment.name, experiment] as const))('%s', (_, experiment) => {
  test('has a cell for each column of each row, and says where it is from', async () => {
    const tables = await run(experiment, 0.01);
    for (const { source, keys, columns, rows } of tables) {
      expect(source).toMatch(/^(Table \d+|A\.\d+)$/);
      expect(rows.length).toBeGreaterThan(0);
      for (const row of rows) {
        expect(row.keys).toHaveLength(keys.length);
        expect(row.cells).toHaveLength(columns.length);
        for (const { measured } of row.cells) expect(measured).toBeGreaterThanOrEqual(0);
      }
    }
    const cells = tables.flatMap(({ rows }) => rows.flatMap((row) => row.cells));
    expect(cells.some(({ paper }) => paper !== undefined)).toBe(true);
  });

  test('ends where it is told to', async () => {
    const stopped = new Error('enough');
    const controller = new AbortController();
    const progress = (): void => controller.abort(stopped);
    const data = './nowhere';
    await expect(experiment.run({ seed: 1, scale: 1, data, signal: controller.signal, progress })).rejects.toBe(
      stopped,
    );
  });
});

test.each(OF_THE_CORE.filter((each) => !OF_TIME.includes(each)).map((each) => [each.name, each] as const))(
  '%s comes out the same again, and with another seed not',
  async (_, experiment) => {
    // Its six tasks are few.
    const scale = experiment === sanity ? 1 : 0.05;
    const [one, again, other] = [
      await run(experiment, scale),
      await run(experiment, scale),
      await run(experiment, scale, 3),
    ];
    expect(again).toEqual(one);
    expect(other).not.toEqual(one);
  },
);

describe('recovery', () => {
  test('with a budget of 20 transactions end in the correct state, whatever goes wrong; without retry as chance has it', async () => {
    const [correct, , , inThePaper] = await run(recovery, 0.4);
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

  test('transactions have no wrong values, and what is called without them has', async () => {
    const [, corrupt, , , inThePaper] = await run(recovery, 0.3);
    for (const table of [corrupt!, inThePaper!]) {
      for (const mode of ['Tx-Full', 'CR', 'No-Frontier', 'Tx-NoFrontier+Retry'])
        for (const { cells } of table.rows) expect(cells[table.columns.indexOf(mode)]!.measured).toBe(0);
      expect(at(table, [3, 0.3], 'No-Tx').measured).toBeGreaterThan(0);
    }
  });
});

describe('mock', () => {
  test('with the paper’s budget, transactions are done as chance has it', async () => {
    const [, , inThePaper] = await run(mock, 0.4);
    for (const fp of [0.1, 0.3, 0.5]) {
      const theory = (1 - fp ** 4) ** 10;
      const measured = (at(inThePaper!, ['WebArena', fp], 'Tx-Full').measured as number) / 100;
      expect(Math.abs(measured - theory)).toBeLessThanOrEqual(5 * Math.sqrt((theory * (1 - theory)) / 40));
    }
  });

  test('a checkpoint that lacks the server leaves wrong states where a transaction leaves none', async () => {
    const [, correct] = await run(mock, 0.3);
    expect(at(correct!, ['WebArena', 0.3], 'CR').measured).toBeLessThan(70);
    expect(at(correct!, ['WebArena', 0.1], 'Tx-Full').measured).toBe(100);
  });
});

test('retries: more of them are never worse, and twenty are enough', async () => {
  for (const table of await run(retryBudget, 1)) {
    for (const column of table.columns) {
      const measured = table.rows.map(({ cells }) => cells[table.columns.indexOf(column)]!.measured as number);
      expect(measured).toEqual(measured.toSorted((a, b) => a - b));
      expect(measured.at(-1)).toBe(100);
    }
  }
});

test('sanity: without faults, no mode fails', async () => {
  const [table] = await run(sanity, 1);
  for (const { cells } of table!.rows) expect(cells[0]).toMatchObject({ measured: 100, within: 0 });
});

test('ablation: without conflicts, the frontier is worth nothing, and retry all', async () => {
  for (const table of await run(ablation, 1)) {
    const cellsOf = (mode: string): readonly Cell[] => table.rows.find(({ keys }) => keys[0] === mode)!.cells;
    expect(cellsOf('Tx-NoFrontier+Retry').map(({ measured }) => measured)).toEqual(
      cellsOf('Tx-Full').map(({ measured }) => measured),
    );
    expect(cellsOf('No-Frontier')[0]!.measured).toBeLessThan(50);
  }
});
