/** One cell of an experiment. */
export interface Row {
  /** Which cell it is, by its coordinates. */
  readonly cell: Readonly<Record<string, string | number | boolean>>;
  /** What the definitions say. For a cell that chance decides, the value that it tends to. */
  readonly expected: number;
  /** What was executed. */
  readonly found: number;
  /** What the paper prints, where that is another number or can't be derived from what it says. */
  readonly reported?: number;
  /** Why it is another. */
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
