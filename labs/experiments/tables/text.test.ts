import { describe, expect, test } from 'vitest';
import type { Table } from './table.ts';
import { differing, tableText, tableTextWithin } from './text.ts';

const table: Table = {
  source: 'Table 9',
  title: 'correct final states',
  unit: '%',
  keys: ['scenario', 'agents'],
  columns: ['Tx-Full', 'No-Tx'],
  rows: [
    {
      keys: ['disjoint writes', 2],
      cells: [
        { measured: 100, within: 0, paper: 100 },
        { measured: 99.95, within: 0.26 },
      ],
    },
    {
      keys: ['counter', 16],
      cells: [{ measured: 100 / 3, paper: '0 or so' }, { measured: 'not run' }],
    },
  ],
  notes: ['100 runs.', 'Nothing else.'],
};

test('a table has a heading, cells next to the paper’s figures, and notes', () => {
  expect(tableText(table)).toBe(
    [
      'Table 9: correct final states (%)',
      'scenario         agents         Tx-Full       No-Tx',
      'disjoint writes  2         100 ±0 [100]  100.0 ±0.3',
      'counter          16      33.3 [0 or so]     not run',
      'In brackets: the paper’s value.',
      '100 runs.',
      'Nothing else.',
      '',
    ].join('\n'),
  );
});

test('without a figure of the paper nothing is said of brackets', () => {
  const alone = {
    ...table,
    rows: [{ keys: ['counter', 16], cells: [{ measured: 1 }, { measured: 2 }] }],
  };
  expect(tableText(alone)).not.toContain('brackets');
});

test('a long note breaks between words, and an overlong word stays whole', () => {
  const long = 'x'.repeat(130);
  const lines = tableText({ ...table, notes: [`${'word '.repeat(40)}${long} end`] })
    .split('\n')
    .slice(5, -1);
  expect(lines).toEqual([
    Array(22).fill('word').join(' '),
    Array(18).fill('word').join(' '),
    long,
    'end',
  ]);
});

test('figures have as many digits as can be meant', () => {
  const of = (measured: number, unit: string): string =>
    tableText({
      ...table,
      unit,
      keys: [],
      columns: ['x'],
      notes: [],
      rows: [{ keys: [], cells: [{ measured }] }],
    })
      .split('\n')
      .at(-2)!
      .trim();
  expect([
    of(1_182_535.4, 'tx/s'),
    of(939.4, 'µs'),
    of(13.25, 'µs'),
    of(0.7654, 'µs'),
    of(2 / 3, '%'),
  ]).toEqual(['1,182,535', '939', '13.3', '0.77', '0.7']);
});

test('a figure and its spread are printed to the same digit', () => {
  const of = (measured: number, within: number): string => {
    const rows = [{ keys: [], cells: [{ measured, within, paper: 60 }] }];
    return tableText({ ...table, keys: [], columns: ['x'], notes: [], rows })
      .split('\n')[2]!
      .trim();
  };
  expect([of(60, 8.8), of(83.33, 25), of(0, 0), of(100, 0), of(0, 0.04)]).toEqual([
    '60.0 ±8.8 [60]',
    '83.3 ±25.0 [60]',
    '0 ±0 [60]',
    '100 ±0 [60]',
    '0 ±0 [60]',
  ]);
});

test('columns that a width has no room for stand below, beside the same keys', () => {
  expect(tableTextWithin(table, 40)).toBe(
    [
      'Table 9: correct final states (%)',
      'scenario         agents         Tx-Full',
      'disjoint writes  2         100 ±0 [100]',
      'counter          16      33.3 [0 or so]',
      '',
      'scenario         agents       No-Tx',
      'disjoint writes  2       100.0 ±0.3',
      'counter          16         not run',
      'In brackets: the paper’s value.',
      '100 runs.',
      'Nothing else.',
      '',
    ].join('\n'),
  );
  expect(tableTextWithin(table, 51)).toBe(tableText(table));
  expect(tableTextWithin(table, 50)).not.toBe(tableText(table));
  // A word or column that cannot be narrower keeps its width.
  expect(
    tableTextWithin({ ...table, notes: ['a note of some words'] }, 9)
      .split('\n')
      .slice(-7, -1),
  ).toEqual(['the', 'paper’s', 'value.', 'a note of', 'some', 'words']);
  expect(
    tableTextWithin({ ...table, columns: [], rows: [{ keys: ['x', 1], cells: [] }] }, 9),
  ).toMatch(/^x {9}1$/m);
});

test('if space is short, keys that rows share are printed above them', () => {
  const cells = [{ measured: 1 }, { measured: 22 }];
  const keys = ['no faults', 'no faults', 'with some'];
  const wide = {
    ...table,
    title: 'a title of some words',
    rows: keys.map((faults, agents) => ({ keys: [faults, agents], cells })),
  };
  expect(tableTextWithin({ ...wide, notes: [] }, 24)).toBe(
    [
      'Table 9: a title of some',
      'words (%)',
      'scenario',
      '  agents  Tx-Full  No-Tx',
      'no faults',
      '  0             1     22',
      '  1             1     22',
      'with some',
      '  2             1     22',
      '',
    ].join('\n'),
  );
});

test('an invalid table is refused with the invalid part', () => {
  const bad = { ...table, rows: [{ keys: ['x', 1], cells: [{ within: 1 }] }] } as unknown as Table;
  expect(() => tableText(bad)).toThrow(
    expect.objectContaining({ code: 'bad_argument', message: expect.stringContaining('measured') }),
  );
});

describe('the expected value of a cell', () => {
  const { unit: _, ...plain } = table;
  const of = (...cells: Table['rows'][number]['cells']): Table => ({
    ...plain,
    keys: [],
    columns: cells.map((_, i) => `c${i}`),
    rows: [{ keys: [], cells }],
    notes: [],
  });

  test('is not shown where it is that, and marked where it is not', () => {
    const mixed = of(
      { measured: 1, expected: 1 },
      { measured: 0.5, expected: 1, paper: 0 },
      { measured: 'A', expected: 'X' },
      { measured: 2 },
    );
    expect(tableText(mixed).split('\n').slice(2, 5)).toEqual([
      ' 1  0.5 ≠1 [0]  A ≠X   2',
      'In brackets: the paper’s value.',
      '2 differ from their expected values, which follow ≠.',
    ]);
    expect(differing(mixed)).toBe(2);
    expect(tableText(of({ measured: 1, expected: 1 }))).not.toMatch(/≠|differ/);
  });

  test('is exact unless a tolerance is given, even in digits that are not shown', () => {
    const almost = { measured: 0.999_999, expected: 1 };
    expect(tableText(of(almost))).toMatch(/^1 ≠1$/m);
    expect(differing(of(almost))).toBe(1);
    expect(differing(of({ ...almost, tolerance: 0.1 }))).toBe(0);
    expect(differing(of({ measured: 0.8, expected: 1, tolerance: 0.1 }))).toBe(1);
    // A text is that, or is not.
    expect(differing(of({ measured: '1', expected: 1, tolerance: 9 }))).toBe(1);
  });
});

test('as many digits as a table asks for', () => {
  const digits = (of: number): string =>
    tableText({
      ...table,
      digits: of,
      rows: [{ keys: ['x', 1], cells: [{ measured: 0.9375 }, { measured: 1 }] }],
    });
  expect(digits(4)).toContain('0.9375');
  expect(digits(0)).not.toContain('0.9');
});
