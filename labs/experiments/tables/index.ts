/**
 * The measurements of experiments, as tables. Each cell shows its value next to the paper's value
 * and the expected value, as text and as images.
 *
 * Guarantees: the same table yields the same text and the same image. A cell that differs from its
 * expected value is marked in every output.
 *
 * Never: measures anything, or rounds away that a cell differs.
 */
export { TableError, type TableErrorCode } from './errors.ts';
export { plotter } from './plot.ts';
export { type ProgressListener, partOf, yieldToEventLoop } from './running.ts';
export type { Cell, Table } from './table.ts';
export { differing, tableText, tableTextWithin } from './text.ts';
