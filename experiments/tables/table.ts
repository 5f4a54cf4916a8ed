/** One number of a table, as it was measured here, with what the paper says of it where it does. */
export interface Cell {
  readonly measured: number | string;
  /** Half of a 95 % interval, in the same unit. */
  readonly within?: number;
  /** As the paper prints it. */
  readonly paper?: number | string;
  /** The expected value. If the cell differs, it is marked, and `differing` counts it. */
  readonly expected?: number | string;
  /** How far from that chance may bring it; nothing where it is left out. */
  readonly tolerance?: number;
}

/** The measurements of one experiment: cells by rows and columns. */
export interface Table {
  /** `Table 9`, `A.6`; where the paper has none, what it is about, and the section that speaks of it: `Aliases (§4.3)`. */
  readonly source: string;
  readonly title: string;
  /** Of the cells, where all have one: `%`, `µs`, `tx/s`. */
  readonly unit?: string;
  /** After the point, where the usual ones are too few. */
  readonly digits?: number;
  /** What the first columns name, and what the others measure. */
  readonly keys: readonly string[];
  readonly columns: readonly string[];
  readonly rows: readonly { readonly keys: readonly (string | number)[]; readonly cells: readonly Cell[] }[];
  /** Notes for the reader: the number of runs, and differences from the paper with reasons. */
  readonly notes: readonly string[];
  /**
   * Drawn so; not where it is left out. `x`: the key along the axis, the other keys and the columns are series. `columns`: those that
   * are drawn, where the others are of another sort; default: all. `log`: for cells of different magnitudes, all above 0.
   */
  readonly plot?: {
    readonly sort: 'line' | 'bar';
    readonly x: string;
    readonly y: string;
    readonly log?: boolean;
    /** Of the other keys, those that tell series apart, where the rest only says more of a row; and of the columns, those that are drawn. */
    readonly keys?: readonly string[];
    readonly columns?: readonly string[];
  };
}
