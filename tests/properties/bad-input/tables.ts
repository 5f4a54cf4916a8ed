import * as tables from '../../../labs/experiments/tables/index.ts';
import type { Case, Exempt } from './case.ts';
import { takes } from './table.ts';

const table = (): any => ({
  source: 'Table 1',
  title: 'tasks done',
  unit: '%',
  digits: 1,
  keys: ['mode'],
  columns: ['success'],
  rows: [
    {
      keys: ['Tx-Full'],
      cells: [{ measured: 100, within: 1, paper: 57.2, expected: 100, tolerance: 1 }],
    },
  ],
  notes: ['one'],
  plot: { sort: 'bar', x: 'mode', y: 'success' },
});

const { signal } = new AbortController();
const drawing = await tables.plotter();

export const TABLES: Readonly<Record<string, Case | Exempt>> = {
  tableText: takes(tables.tableText, () => [table()]),
  tableTextWithin: takes(tables.tableTextWithin, () => [table(), 80]),
  differing: takes(tables.differing, () => [table()]),
  plotter: takes(tables.plotter, [['Tx-Full']]),
  // The function that `plotter` returns.
  'plotter, drawing': takes(drawing, () => [table()]),
  yieldToEventLoop: takes(tables.yieldToEventLoop, () => [{ signal }], {
    '0.signal': 'it is the platform’s own, and nothing else is taken',
  }),
  partOf: takes(tables.partOf, () => [{ signal, progress: () => undefined }, 0, 2], {
    '0.signal': 'only handed on',
    '0.progress': 'the caller’s code, called later',
  }),
};
