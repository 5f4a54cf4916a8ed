import { form, requireForm } from 'assize/canon';
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

const KEY = form.of('a text or a number', (value) => typeof value === 'string' || Number.isFinite(value));
const CELL = form.members({
  measured: KEY,
  within: form.optional(form.number),
  paper: form.optional(KEY),
  expected: form.optional(KEY),
  tolerance: form.optional(form.number),
});

/** As many as `toLocaleString` takes. */
const DIGITS = form.of(
  'a whole number from 0 to 20',
  (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 20,
);

/** What a table has to be to be printed or drawn. */
export const TABLE = form.members({
  source: form.text,
  title: form.text,
  unit: form.optional(form.text),
  digits: form.optional(DIGITS),
  keys: form.list(form.text),
  columns: form.list(form.text),
  rows: form.list(form.members({ keys: form.list(KEY), cells: form.list(CELL) })),
  notes: form.list(form.text),
  plot: form.optional(
    form.members({
      sort: form.of("'line' or 'bar'", (value) => value === 'line' || value === 'bar'),
      x: form.text,
      y: form.text,
      columns: form.optional(form.list(form.text)),
      log: form.optional(form.of('true or false', (value) => typeof value === 'boolean')),
      keys: form.optional(form.list(form.text)),
    }),
  ),
});

/**
 * A table as text: each cell as it was measured, with half of its 95 % interval after `±`, what it has to be after `≠` where it is not, and
 * the paper's figure in brackets.
 * @throws ArgumentError `bad_argument`
 */
export function tableText(table: Table): string {
  requireForm(TABLE, table, 'table');
  const { keys, columns, rows, notes, unit } = table;
  const differ = differing(table);
  return [
    `${headingOf(table)}${unit === undefined ? '' : ` (${unit})`}`,
    ...gridOf(
      [...keys, ...columns],
      rows.map((row) => [...row.keys.map(String), ...row.cells.map((cell) => cellText(cell, table))]),
      keys.length,
    ),
    ...(hasPaper(table) ? ['In brackets: as the paper prints it.'] : []),
    ...(differ > 0 ? [`${differ} differ from what they have to be, which stands after ≠.`] : []),
    ...notes.flatMap(wrapped),
    '',
  ].join('\n');
}

/**
 * How many cells of a table are not what they have to be.
 * @throws ArgumentError `bad_argument`
 */
export function differing(table: Table): number {
  requireForm(TABLE, table, 'table');
  return table.rows.flatMap(({ cells }) => cells).filter(differs).length;
}

function differs({ measured, expected, tolerance = 0 }: Cell): boolean {
  if (expected === undefined || measured === expected) return false;
  return typeof measured === 'string' || typeof expected === 'string' || Math.abs(measured - expected) > tolerance;
}

/** Where a table is from, and what it shows. */
export function headingOf({ source, title }: Table): string {
  return `${source}: ${title}`;
}

export function hasPaper({ rows }: Table): boolean {
  return rows.some(({ cells }) => cells.some(({ paper }) => paper !== undefined));
}

function gridOf(head: readonly string[], rows: readonly (readonly string[])[], keys: number): string[] {
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
  const [figure, spread] = within === undefined ? [numberText(measured, of), ''] : withSpread(measured, within, of);
  const other = expected === undefined || !differs(cell) ? '' : ` ≠${numberText(expected, of)}`;
  const beside = paper === undefined ? '' : ` [${numberText(paper, of)}]`;
  return `${figure}${spread}${other}${beside}`;
}

/** Both to the same digit: 60.0 ±8.8. */
function withSpread(measured: Cell['measured'], within: number, of: Digits): [figure: string, spread: string] {
  const texts = (fraction: number): [string, string] => [
    numberText(measured, of, measured, fraction),
    numberText(within, of, measured, fraction),
  ];
  const fraction = Math.max(...texts(0).map((text) => text.split('.')[1]?.length ?? 0));
  const [figure, spread] = texts(fraction);
  return [figure, ` ±${spread}`];
}

/** Broken between words. */
function wrapped(note: string): string[] {
  const lines = [''];
  for (const word of note.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`.trimStart();
    if (longer.length <= WIDTH) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

type Digits = Pick<Table, 'unit' | 'digits'>;

/** No more digits than can be meant; as many as `beside` has, and no fewer behind the point than `fraction`. */
function numberText(
  value: number | string,
  { unit, digits }: Digits,
  beside: number | string = value,
  fraction: number = 0,
): string {
  if (typeof value === 'string') return value;
  const size = Math.abs(Number(beside));
  const usual = unit === '%' || (size >= 10 && size < 100) ? 1 : size >= 100 ? 0 : 2;
  return value.toLocaleString('en-US', { minimumFractionDigits: fraction, maximumFractionDigits: digits ?? usual });
}
