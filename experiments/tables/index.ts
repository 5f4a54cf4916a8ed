/**
 * What experiments have measured, as tables: their cells beside what a paper prints and what they have to be, as text and as images.
 *
 * Guarantees: the same table is the same text and the same image; a cell that is not what it has to be is marked wherever it is shown.
 *
 * Never: measures anything, or rounds away that a cell differs.
 */
export { TableError, type TableErrorCode } from './errors.ts';
export { plotter } from './plot.ts';
export { type ProgressListener, partOf, yieldToEventLoop } from './running.ts';
export type { Cell, Table } from './table.ts';
export { differing, tableText, tableTextWithin } from './text.ts';
