/** One cell of an experiment. */
export interface Row {
  /** Which cell it is, by its coordinates. */
  readonly cell: Readonly<Record<string, string | number | boolean>>;
  /** The value that the definitions give. For a random cell, the value that it tends to. */
  readonly expected: number;
  /** The measured value. */
  readonly found: number;
  /** What the paper prints of this cell, as a figure; not there where it prints none, whatever its definitions say. */
  readonly reported?: number;
  /** Why the paper has it otherwise, in a figure or by its guards. */
  readonly because?: string;
}

/** An experiment with all its cells. */
export interface Grid {
  readonly name: string;
  /** Where in the paper. */
  readonly source: string;
  /** Whether `found` has to be `expected` in every cell; otherwise chance decides it, and it is near. */
  readonly isExact: boolean;
  readonly rows: readonly Row[];
}
