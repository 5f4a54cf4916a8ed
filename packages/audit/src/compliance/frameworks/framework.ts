import type { Measure } from '../measures/measure.ts';

/**
 * One clause of a text outside of this project. `asks` is a paraphrase in our own words, and the
 * choice of measures is our own reading.
 */
export interface Clause {
  /** Its number in the text. */
  readonly id: string;
  readonly title: string;
  readonly asks: string;
  readonly measures: readonly Measure[];
}

export interface Framework {
  /** The name that a caller passes. */
  readonly id: string;
  readonly title: string;
  readonly clauses: readonly Clause[];
}
