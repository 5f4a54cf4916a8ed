import { arg, checkArgument } from 'assize/internal/base';
import Grid from 'cli-table3';
import type { Cell, Table } from './table.ts';

/** Between two columns. */
const GAP = 2;
/** Of notes, in characters. */
const WIDTH = 110;

const BORDERLESS = Object.fromEntries(
  ['top', 'bottom', 'mid', 'left', 'right', 'middle']
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
    .map((name) => [name, '']),
);

const KEY = arg.of(
  'a text or a number',
  (value) => typeof value === 'string' || Number.isFinite(value),
);
const CELL = arg.members({
  measured: KEY,
  within: arg.optional(arg.number),
  paper: arg.optional(KEY),
  expected: arg.optional(KEY),
  tolerance: arg.optional(arg.number),
});

/** As many as `toLocaleString` takes. */
const DIGITS = arg.of(
  'a whole number from 0 to 20',
  (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 20,
);

/** The requirements of a printable table. */
export const TABLE = arg.members({
  source: arg.text,
  title: arg.text,
  unit: arg.optional(arg.text),
  digits: arg.optional(DIGITS),
  keys: arg.list(arg.text),
  columns: arg.list(arg.text),
  rows: arg.list(arg.members({ keys: arg.list(KEY), cells: arg.list(CELL) })),
  notes: arg.list(arg.text),
  plot: arg.optional(
    arg.members({
      sort: arg.of("'line' or 'bar'", (value) => value === 'line' || value === 'bar'),
      x: arg.text,
      y: arg.text,
      columns: arg.optional(arg.list(arg.text)),
      log: arg.optional(arg.of('true or false', (value) => typeof value === 'boolean')),
      keys: arg.optional(arg.list(arg.text)),
    }),
  ),
});

/**
 * A table as text. Each cell shows its measured value, with half of its 95 % interval after `±`. An
 * expected value that differs follows `≠`, and the paper's figure is in brackets.
 * @throws ArgumentError `bad_argument`
 */
export function tableText(table: Table): string {
  checkArgument(TABLE, table, 'table');
  return textOf(table, [headingText(table)], gridsOf(table, Number.POSITIVE_INFINITY), WIDTH);
}

/**
 * Same as `tableText`, in lines of at most `width` characters. Columns that do not fit are printed
 * below, next to the same keys again. A first key that rows have in common is printed above them.
 * Keys with one column are never separated, and a word is never broken.
 * @throws ArgumentError `bad_argument`
 */
export function tableTextWithin(table: Table, width: number): string {
  checkArgument(TABLE, table, 'table');
  checkArgument(arg.whole, width, 'width');
  return textOf(
    table,
    wrapped(headingText(table), width),
    gridsOf(table, width),
    Math.min(width, WIDTH),
  );
}

function headingText(table: Table): string {
  return `${headingOf(table)}${table.unit === undefined ? '' : ` (${table.unit})`}`;
}

function textOf(
  table: Table,
  heading: readonly string[],
  grids: readonly (readonly string[])[],
  width: number,
): string {
  const differ = differing(table);
  const below = [
    ...(hasPaper(table) ? ['In brackets: the paper’s value.'] : []),
    ...(differ > 0 ? [`${differ} differ from their expected values, which follow ≠.`] : []),
    ...table.notes,
  ];
  return [
    ...heading,
    ...grids.flatMap((grid, i) => (i === 0 ? grid : ['', ...grid])),
    ...below.flatMap((note) => wrapped(note, width)),
    '',
  ].join('\n');
}

/** All columns beside their keys, where there is room for them. */
function gridsOf(table: Table, width: number): (readonly string[])[] {
  const { keys, columns, rows } = table;
  const head = [...keys, ...columns];
  const body = rows.map((row) => [
    ...row.keys.map(String),
    ...row.cells.map((cell) => cellText(cell, table)),
  ]);
  const whole = inParts([head, ...body], keys.length, width);
  const groups = new Set(body.map(([first]) => first)).size;
  if (whole.length === 1 || keys.length < 2 || groups === body.length) return whole;
  // A key that rows have in common is printed above them, so it takes no room from the others.
  const rest = inParts(
    [head.slice(1), ...body.map((row) => row.slice(1))],
    keys.length - 1,
    width - INDENT.length,
  );
  const firsts = [head, ...body].map(([first]) => first as string);
  return rest.map((lines) =>
    lines.flatMap((text, i) => [
      ...(i > 1 && firsts[i] === firsts[i - 1] ? [] : [firsts[i] as string]),
      `${INDENT}${text}`,
    ]),
  );
}

/** Before rows that stand below what they have in common. */
const INDENT = '  ';

/**
 * Prints as many columns as fit next to their keys, repeatedly, until all are printed. The first
 * row is the head.
 */
function inParts(rows: readonly (readonly string[])[], keys: number, width: number): string[][] {
  const [head = []] = rows;
  const wide = head.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)) + GAP);
  const sum = (from: number, to: number): number =>
    wide.slice(from, to).reduce((all, one) => all + one, 0);
  const room = width + GAP - sum(0, keys);
  const parts: string[][] = [];
  let first = keys;
  do {
    let last = first + 1;
    while (last < head.length && sum(first, last + 1) <= room) last++;
    const [titles = [], ...cells] = rows.map((row) => [
      ...row.slice(0, keys),
      ...row.slice(first, last),
    ]);
    parts.push(gridOf(titles, cells, keys));
    first = last;
  } while (first < head.length);
  return parts;
}

/**
 * How many cells of a table are not what they have to be.
 * @throws ArgumentError `bad_argument`
 */
export function differing(table: Table): number {
  checkArgument(TABLE, table, 'table');
  return table.rows.flatMap(({ cells }) => cells).filter(differs).length;
}

function differs({ measured, expected, tolerance = 0 }: Cell): boolean {
  if (expected === undefined || measured === expected) return false;
  return (
    typeof measured === 'string' ||
    typeof expected === 'string' ||
    Math.abs(measured - expected) > tolerance
  );
}

/** The source of a table, and its subject. */
export function headingOf({ source, title }: Table): string {
  return `${source}: ${title}`;
}

export function hasPaper({ rows }: Table): boolean {
  return rows.some(({ cells }) => cells.some(({ paper }) => paper !== undefined));
}

function gridOf(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  keys: number,
): string[] {
  const grid = new Grid({
    head: [...head],
    chars: BORDERLESS,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': GAP },
    colAligns: head.map((_, i) => (i < keys ? 'left' : 'right')),
  });
  grid.push(...rows.map((row) => [...row]));
  return grid
    .toString()
    .split('\n')
    .map((text) => text.trimEnd());
}

function cellText(cell: Cell, of: Digits): string {
  const { measured, within, paper, expected } = cell;
  const [figure, spread] =
    within === undefined ? [numberText(measured, of), ''] : withSpread(measured, within, of);
  const other = expected === undefined || !differs(cell) ? '' : ` ≠${numberText(expected, of)}`;
  const beside = paper === undefined ? '' : ` [${numberText(paper, of)}]`;
  return `${figure}${spread}${other}${beside}`;
}

/** Both to the same digit: 60.0 ±8.8. */
function withSpread(
  measured: Cell['measured'],
  within: number,
  of: Digits,
): [figure: string, spread: string] {
  const texts = (fraction: number): [string, string] => [
    numberText(measured, of, measured, fraction),
    numberText(within, of, measured, fraction),
  ];
  const fraction = Math.max(...texts(0).map((text) => text.split('.')[1]?.length ?? 0));
  const [figure, spread] = texts(fraction);
  return [figure, ` ±${spread}`];
}

/** Broken between words. */
function wrapped(note: string, width: number): string[] {
  const lines = [''];
  for (const word of note.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`.trimStart();
    if (longer.length <= width || lines.at(-1) === '') lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

type Digits = Pick<Table, 'unit' | 'digits'>;

/**
 * Prints no more digits than are meaningful: the same number as `beside` has, and at least
 * `fraction` after the point.
 */
function numberText(
  value: number | string,
  { unit, digits }: Digits,
  beside: number | string = value,
  fraction: number = 0,
): string {
  if (typeof value === 'string') return value;
  const size = Math.abs(Number(beside));
  const usual = unit === '%' || (size >= 10 && size < 100) ? 1 : size >= 100 ? 0 : 2;
  return value.toLocaleString('en-US', {
    minimumFractionDigits: fraction,
    maximumFractionDigits: digits ?? usual,
  });
}
