import { seededRandom } from 'assize/internal/oracle';
import { describe, expect, test } from 'vitest';
import { differing, type Table } from '../tables/index.ts';
import { boundOf, gridTable } from './grid-table.ts';
import { isoMatrix, schemaAxis } from './schedules/index.ts';

const hasPaper = ({ rows }: Table): boolean =>
  rows.some(({ cells }) => cells.some((cell) => 'paper' in cell));

const LAYOUT = { title: 'cells', keys: ['anomaly'], column: 'level', notes: ['one'] };

describe('a grid as a table', () => {
  const grid = isoMatrix(seededRandom(1), 1);

  test('has each cell at its coordinates next to its expected value', () => {
    const table = gridTable(grid, LAYOUT);
    const cells = table.rows.flatMap(({ keys, cells }) =>
      cells.map(({ measured, expected }, i) => [keys[0], table.columns[i], measured, expected]),
    );
    expect(cells).toEqual(
      grid.rows.map(({ cell, found, expected }) => [
        cell['anomaly'],
        cell['level'],
        found,
        expected,
      ]),
    );
    expect(differing(table)).toBe(0);
  });

  test('has the paper’s figure if one is printed, never an expected value', () => {
    expect(hasPaper(gridTable(grid, LAYOUT))).toBe(false);
    const printed = gridTable(schemaAxis(seededRandom(1), 1), {
      ...LAYOUT,
      keys: ['level'],
      column: 'schema',
    });
    expect(printed.rows.flatMap(({ cells }) => cells.map(({ paper }) => paper))).toEqual(
      Array(6).fill([1, 0]).flat(),
    );
  });

  test('says where a cell is wrong, and why the paper has another figure', () => {
    const rows = grid.rows.map((row, i) =>
      i === 3
        ? { ...row, found: 0.99, expected: 1, reported: 0, because: 'it is printed so' }
        : row,
    );
    const table = gridTable({ ...grid, rows }, LAYOUT);
    expect(differing(table)).toBe(1);
    expect(table.rows[0]!.cells[3]).toEqual({ measured: 0.99, expected: 1, paper: 0 });
    expect(table.notes).toEqual(['one', 'Where the paper has it otherwise: it is printed so.']);
  });

  test('lets chance have its way, but not where something is certain', () => {
    const rows = grid.rows.map((row, i) => ({
      ...row,
      expected: i === 0 ? 0 : 0.5,
      found: i === 0 ? 0.01 : 0.55,
    }));
    const lenient = gridTable({ ...grid, isExact: false, rows }, { ...LAYOUT, runs: 1_000 });
    expect(differing(lenient)).toBe(1);
    expect(
      differing(gridTable({ ...grid, isExact: false, rows }, { ...LAYOUT, runs: 100_000 })),
    ).toBe(54);
  });
});

describe('how far chance may bring a cell', () => {
  /**
   * The probability that the share of the runs deviates from `p` by `away` or more, summed from the
   * binomial distribution.
   */
  function tail(p: number, runs: number, away: number): number {
    let term = (1 - p) ** runs;
    let sum = 0;
    for (let k = 0; k <= runs; k++) {
      if (Math.abs(k / runs - p) > away) sum += term;
      term = (term * (runs - k) * p) / ((k + 1) * (1 - p));
    }
    return sum;
  }

  test.each([1, 5, 20, 50, 200, 500])('in %i runs it comes further once in a million', (runs) => {
    for (const p of [0.01, 0.05, 0.2, 0.5, 0.75, 0.95])
      expect(tail(p, runs, boundOf(p, runs)), String(p)).toBeLessThanOrEqual(1e-6);
  });

  test('the bound is narrow enough to detect a wrong cell, and zero if certain', () => {
    expect(boundOf(0.5, 500)).toBeLessThan(0.13);
    expect([boundOf(0, 10), boundOf(1, 10)]).toEqual([0, 0]);
  });
});
