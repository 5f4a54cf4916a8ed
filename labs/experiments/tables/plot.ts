import { arg, checkArgument } from 'assize/internal/base';
import type * as Charts from 'echarts';
import { TableError } from './errors.ts';
import type { Cell, Table } from './table.ts';
import { hasPaper, headingOf, TABLE } from './text.ts';

const WIDTH = 960;
const HEIGHT = 560;
/** Names in the legend that have room in one line. */
const NAMES_A_LINE = 4;
const LINE_HEIGHT = 22;
/** Beside the axes. */
const [LEFT, RIGHT] = [72, 32];
/**
 * The labels below the axis: their size, their line height, and the maximum average width of a
 * character.
 */
const LABEL = { size: 11, line: 14, character: 6.5 };
/** Of columns, in their order. */
const COLOURS = [
  '#1f6f8b',
  '#c8553d',
  '#588157',
  '#8d6a9f',
  '#b08d00',
  '#5c677d',
  '#d17a9b',
  '#2b9348',
];
/**
 * Symbols of groups of rows, for lines: filled for measured values, hollow for the paper's values.
 */
const SYMBOLS = ['circle', 'triangle', 'rect', 'diamond'];

/**
 * Loads the chart library. The returned function draws a table with a `plot` as an SVG image, as a
 * string. Measured values are drawn solid, with their intervals in line plots. The paper's values
 * are dashed or hollow. Columns that are `known` have the same colour in all images.
 *
 * @throws TableError `not_installed`; ArgumentError `bad_argument`
 */
export async function plotter(known: readonly string[] = []): Promise<(table: Table) => string> {
  checkArgument(arg.list(arg.text), known, 'known');
  const charts = await loaded();
  return (table) => drawn(charts, table, known);
}

async function loaded(): Promise<typeof Charts> {
  try {
    return await import('echarts');
  } catch (cause) {
    const message = 'The package echarts is not installed. Run npm install echarts.';
    throw new TableError('not_installed', message, { cause });
  }
}

/**
 * @throws ArgumentError `bad_argument`; TableError `bad_input` for a table without a plot, or for a
 * key or column that the table does not have
 */
function drawn(charts: typeof Charts, table: Table, known: readonly string[]): string {
  checkArgument(TABLE, table, 'table');
  const chart = charts.init(null, null, {
    renderer: 'svg',
    ssr: true,
    width: WIDTH,
    height: HEIGHT,
  });
  try {
    chart.setOption(optionOf(table, known));
    return plain(chart.renderToSVGString());
  } finally {
    chart.dispose();
  }
}

/**
 * Removes attributes for the mouse pointer, and the clipping at the edge: no line reaches it.
 * Both get new numbers in each image, and the same table must yield the same image.
 */
function plain(svg: string): string {
  return svg
    .replace(/ (?:class|clip-path|ecmeta_\w+)="[^"]*"/g, '')
    .replace(/<(style|defs)\b[\s\S]*?<\/\1>\s*/g, '');
}

/** One line, or one colour of bars. */
interface Series {
  readonly name: string;
  readonly color: string;
  readonly symbol: string;
  /**
   * Width of the line. Later lines are finer, so the lines below them are visible if they coincide.
   */
  readonly width: number;
  /** Along the axis; none where there is no row or no number. */
  readonly cells: readonly (Cell | undefined)[];
}

function optionOf(table: Table, known: readonly string[]): Charts.EChartsOption {
  const { plot, unit } = table;
  if (plot === undefined) throw new TableError('bad_input', `${headingOf(table)} has no plot.`);
  for (const key of [plot.x, ...(plot.keys ?? [])]) requireOne(table, 'key', table.keys, key);
  for (const column of plot.columns ?? []) requireOne(table, 'column', table.columns, column);
  const at = table.keys.indexOf(plot.x);
  const places = [...new Set(table.rows.map(({ keys }) => String(keys[at])))];
  const series = seriesOf(table, plot, at, places, known);
  const lines = Math.ceil(series.length / NAMES_A_LINE);
  const labels = labelsOf(places);
  return {
    animation: false,
    backgroundColor: '#ffffff',
    color: COLOURS,
    title: {
      text: headingOf(table),
      subtext: hasPaper(table) ? 'dashed and hollow: as the paper prints it' : '',
      left: 'center',
      top: 10,
      textStyle: { fontSize: 16, fontWeight: 'normal' },
    },
    legend: { bottom: 8, data: series.map(({ name }) => name), itemGap: 28 },
    grid: { left: LEFT, right: RIGHT, top: 72, bottom: 42 + labels.height + lines * LINE_HEIGHT },
    xAxis: {
      type: 'category',
      data: places,
      name: plot.x,
      nameLocation: 'middle',
      nameGap: labels.height,
      axisLabel: labels.option,
    },
    yAxis: {
      type: plot.log === true ? 'log' : 'value',
      name: unit === undefined ? plot.y : `${plot.y} (${unit})`,
      nameLocation: 'middle',
      nameGap: 52,
      ...(unit === '%' ? { min: 0, max: 100 } : {}),
    },
    series: series.flatMap((each) => [
      measuredOf(each, plot.sort),
      ...(each.cells.some((cell) => typeof cell?.paper === 'number')
        ? [paperOf(each, plot.sort)]
        : []),
      ...(plot.sort === 'line'
        ? [intervalsOf(each, unit === '%' ? 100 : Number.POSITIVE_INFINITY)]
        : []),
    ]),
  };
}

/** @throws TableError `bad_input` */
function requireOne(
  table: Table,
  what: 'key' | 'column',
  all: readonly string[],
  name: string,
): void {
  if (all.includes(name)) return;
  throw new TableError(
    'bad_input',
    `${headingOf(table)} has no ${what} ${name}; it has ${all.join(', ')}.`,
  );
}

/**
 * The labels below the axis, each at its position. A long label has several lines. `height`:
 * includes the room below.
 */
function labelsOf(places: readonly string[]): { readonly height: number; readonly option: object } {
  const width = Math.floor((WIDTH - LEFT - RIGHT) / places.length) - 6;
  const linesOf = (place: string): number => {
    const broad = place.split(' ').map((word) => (word.length + 1) * LABEL.character);
    return broad.reduce(
      ({ lines, filled }, word) =>
        filled + word <= width
          ? { lines, filled: filled + word }
          : { lines: lines + 1, filled: word },
      { lines: 1, filled: 0 },
    ).lines;
  };
  const height = 16 + LABEL.line * Math.max(...places.map(linesOf));
  return {
    height,
    option: { interval: 0, width, overflow: 'break', fontSize: LABEL.size, lineHeight: LABEL.line },
  };
}

function seriesOf(
  { keys, columns: all, rows }: Table,
  { keys: apart = keys, columns = all }: NonNullable<Table['plot']>,
  at: number,
  places: readonly string[],
  known: readonly string[],
): Series[] {
  const beside = keys.flatMap((key, i) => (i !== at && apart.includes(key) ? [i] : []));
  const groups = [...new Set(rows.map((row) => groupOf(keys, row, beside)))];
  const count = groups.length * columns.length;
  return groups.flatMap((group, g) =>
    columns.map((column, c) => ({
      name: [group, column].filter((part) => part !== '').join(': '),
      color: colourOf(column, columns.length === 1 ? g : c, known),
      symbol: SYMBOLS[g % SYMBOLS.length] as string,
      width: 1.5 + (4 * (count - 1 - (g * columns.length + c))) / count,
      cells: places.map((place) => {
        const row = rows.find(
          (each) => String(each.keys[at]) === place && groupOf(keys, each, beside) === group,
        );
        const cell = row?.cells[all.indexOf(column)];
        return typeof cell?.measured === 'number' ? cell : undefined;
      }),
    })),
  );
}

/** Known columns have the same colour in all images. */
function colourOf(column: string, place: number, known: readonly string[]): string {
  const own = known.indexOf(column);
  return COLOURS[(own < 0 ? place : own) % COLOURS.length] as string;
}

/**
 * The keys of a row other than its position on the axis. A number follows the name of its key.
 */
function groupOf(
  keys: readonly string[],
  row: Table['rows'][number],
  beside: readonly number[],
): string {
  return beside
    .map((i) => (typeof row.keys[i] === 'number' ? `${keys[i]} ${row.keys[i]}` : row.keys[i]))
    .join(', ');
}

function measuredOf(
  { name, color, symbol, width, cells }: Series,
  sort: 'line' | 'bar',
): Charts.SeriesOption {
  const data = cells.map((cell) => rounded(cell?.measured));
  if (sort === 'bar') return { type: 'bar', name, data, itemStyle: { color } };
  const marks = { symbol, symbolSize: 5 + width, itemStyle: { color } };
  return { type: 'line', name, data, ...marks, lineStyle: { color, width } };
}

function paperOf(
  { name, color, symbol, cells }: Series,
  sort: 'line' | 'bar',
): Charts.SeriesOption {
  const data = cells.map((cell) => rounded(cell?.paper));
  const paper = `${name}, paper`;
  const hollow = { color: '#ffffff', borderColor: color, borderWidth: 1.5 };
  if (sort === 'bar')
    return { type: 'bar', name: paper, data, itemStyle: { ...hollow, borderType: 'dashed' } };
  const marks = { symbol, symbolSize: 8, itemStyle: hollow };
  return {
    type: 'line',
    name: paper,
    data,
    ...marks,
    lineStyle: { color, type: 'dashed', width: 1 },
  };
}

/**
 * A stroke from the lower end of each interval to the upper one, limited to the possible values:
 * from 0 to `most`.
 */
function intervalsOf({ name, color, cells }: Series, most: number): Charts.SeriesOption {
  const data = cells.flatMap((cell, i) =>
    cell?.within === undefined || typeof cell.measured !== 'number'
      ? []
      : [
          [
            i,
            Math.max(0, cell.measured - cell.within),
            Math.min(most, cell.measured + cell.within),
          ],
        ],
  );
  return {
    type: 'custom',
    name: `${name}, interval`,
    data,
    renderItem: (_, api) => {
      const [x, y1] = api.coord([api.value(0), api.value(1)]);
      const [, y2] = api.coord([api.value(0), api.value(2)]);
      return {
        type: 'line',
        shape: { x1: x!, y1: y1!, x2: x!, y2: y2! },
        style: { stroke: color, lineWidth: 2, opacity: 0.5 },
      };
    },
  };
}

/** A value that is not a number is not drawn. */
function rounded(value: Cell['paper']): number | string {
  return typeof value === 'number' ? Number(value.toPrecision(6)) : '-';
}
