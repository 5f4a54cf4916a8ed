/** One cell of an experiment. */
export interface Row {
  /** The coordinates of the cell. */
  readonly cell: Readonly<Record<string, string | number | boolean>>;
  /** The value that the definitions give. For a random cell, the value that it tends to. */
  readonly expected: number;
  /** The measured value. */
  readonly found: number;
  /**
   * The figure that the paper prints for this cell. Absent if the paper prints no figure, even if
   * its definitions give a value.
   */
  readonly reported?: number;
  /** Why the paper has it otherwise, in a figure or by its guards. */
  readonly because?: string;
}

/** An experiment with all its cells. */
export interface Grid {
  readonly name: string;
  /** Where in the paper. */
  readonly source: string;
  /**
   * Whether `found` must equal `expected` in every cell. Otherwise `found` is random and near
   * `expected`.
   */
  readonly isExact: boolean;
  readonly rows: readonly Row[];
}
