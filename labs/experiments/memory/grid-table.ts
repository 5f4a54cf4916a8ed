import type { Cell, Table } from '../tables/index.ts';
import type { Grid } from './schedules/index.ts';

type Row = Grid['rows'][number];

/** How the cells of a grid become a table. */
export interface Layout extends Pick<Table, 'title' | 'notes' | 'plot' | 'digits'> {
  readonly source?: string;
  /** The coordinates of a cell that name its row. */
  readonly keys: readonly string[];
  /** The one that its column is named by. */
  readonly column: string;
  /** Number of runs of each cell, for random cells. */
  readonly runs?: number;
}

/**
 * A grid as a table. Each cell shows its expected value, and the paper's value if the paper prints
 * one.
 */
export function gridTable(grid: Grid, layout: Layout): Table {
  const { title, keys, column, runs, notes, source, plot, digits } = layout;
  const columns = [...new Set(grid.rows.map(({ cell }) => String(cell[column])))];
  const named = Map.groupBy(grid.rows, ({ cell }) =>
    JSON.stringify(keys.map((key) => keyOf(cell[key]))),
  );
  return {
    source: source ?? grid.source,
    title,
    ...(digits !== undefined && { digits }),
    keys,
    columns,
    rows: [...named].map(([key, rows]) => ({
      keys: JSON.parse(key) as (string | number)[],
      cells: columns.map((name) => {
        const row = rows.find(({ cell }) => String(cell[column]) === name)!;
        return cellOf(row, grid.isExact ? 0 : boundOf(row.expected, runs ?? 1));
      }),
    })),
    notes: [...notes, ...reasons(grid.rows)],
    ...(plot !== undefined && { plot }),
  };
}

/**
 * The maximum distance of a share of `runs` runs from its probability, except in one case in a
 * million (Hoeffding's bound). The distance is 0 for a certain outcome.
 */
export function boundOf(probability: number, runs: number): number {
  return probability === 0 || probability === 1 ? 0 : Math.sqrt(Math.log(2 / MISSES) / (2 * runs));
}

const MISSES = 1e-6;

function cellOf({ found, expected, reported }: Row, tolerance: number): Cell {
  return {
    measured: found,
    expected,
    ...(tolerance > 0 && { tolerance }),
    ...(reported !== undefined && { paper: reported }),
  };
}

function keyOf(value: string | number | boolean | undefined): string | number {
  return typeof value === 'number' ? value : String(value);
}

/** Why the paper has it otherwise, each once. */
function reasons(rows: readonly Row[]): readonly string[] {
  const why = new Set(
    rows.flatMap(({ because }) => (because === undefined || because === '' ? [] : [because])),
  );
  return why.size === 0 ? [] : [`Where the paper has it otherwise: ${[...why].join('; ')}.`];
}
