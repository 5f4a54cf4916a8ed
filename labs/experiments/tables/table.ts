/** One number of a table, as measured here, with the paper's value if the paper has one. */
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
  /**
   * `Table 9`, `A.6`. If the paper has no such table, the subject and the section about it:
   * `Aliases (§4.3)`.
   */
  readonly source: string;
  readonly title: string;
  /** Of the cells, where all have one: `%`, `µs`, `tx/s`. */
  readonly unit?: string;
  /** After the point, where the usual ones are too few. */
  readonly digits?: number;
  /** The names of the first columns, and the measurements of the others. */
  readonly keys: readonly string[];
  readonly columns: readonly string[];
  readonly rows: readonly {
    readonly keys: readonly (string | number)[];
    readonly cells: readonly Cell[];
  }[];
  /** Notes for the reader: the number of runs, and differences from the paper with reasons. */
  readonly notes: readonly string[];
  /**
   * The settings of the image. Without them no image is drawn. `x`: the key along the axis; the
   * other keys and the columns are series. `columns`: the drawn columns, if the others are of
   * another kind; default: all. `log`: for cells of different magnitudes, all above 0.
   */
  readonly plot?: {
    readonly sort: 'line' | 'bar';
    readonly x: string;
    readonly y: string;
    readonly log?: boolean;
    /**
     * `keys`: the other keys that distinguish series, if the rest only describes a row. `columns`:
     * the drawn columns.
     */
    readonly keys?: readonly string[];
    readonly columns?: readonly string[];
  };
}
