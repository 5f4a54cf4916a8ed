import { expect, test } from 'vitest';
import type { Table } from './table.ts';
import { tableText } from './text.ts';

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
    { keys: ['counter', 16], cells: [{ measured: 100 / 3, paper: '0 or so' }, { measured: 'not run' }] },
  ],
  notes: ['100 runs.', 'Nothing else.'],
};

test('a table is its heading, its cells beside the paper’s figures, and its notes', () => {
  expect(tableText(table)).toBe(
    [
      'Table 9: correct final states (%)',
      'scenario         agents         Tx-Full     No-Tx',
      'disjoint writes  2         100 ±0 [100]  100 ±0.3',
      'counter          16      33.3 [0 or so]   not run',
      'In brackets: as the paper prints it.',
      '100 runs.',
      'Nothing else.',
      '',
    ].join('\n'),
  );
});

test('without a figure of the paper nothing is said of brackets', () => {
  const alone = { ...table, rows: [{ keys: ['counter', 16], cells: [{ measured: 1 }, { measured: 2 }] }] };
  expect(tableText(alone)).not.toContain('brackets');
});

test('a long note is broken between words, and a word that is longer than a line is left whole', () => {
  const long = 'x'.repeat(130);
  const lines = tableText({ ...table, notes: [`${'word '.repeat(40)}${long} end`] })
    .split('\n')
    .slice(5, -1);
  expect(lines).toEqual([Array(22).fill('word').join(' '), Array(18).fill('word').join(' '), long, 'end']);
});

test('figures have as many digits as can be meant', () => {
  const of = (measured: number, unit: string): string =>
    tableText({ ...table, unit, keys: [], columns: ['x'], notes: [], rows: [{ keys: [], cells: [{ measured }] }] })
      .split('\n')
      .at(-2)!
      .trim();
  expect([of(1_182_535.4, 'tx/s'), of(939.4, 'µs'), of(13.25, 'µs'), of(0.7654, 'µs'), of(2 / 3, '%')]).toEqual([
    '1,182,535',
    '939',
    '13.3',
    '0.77',
    '0.7',
  ]);
});

test('what is no table is refused, with what of it', () => {
  const bad = { ...table, rows: [{ keys: ['x', 1], cells: [{ within: 1 }] }] } as unknown as Table;
  expect(() => tableText(bad)).toThrow(
    expect.objectContaining({ code: 'bad_argument', message: expect.stringContaining('measured') }),
  );
});
