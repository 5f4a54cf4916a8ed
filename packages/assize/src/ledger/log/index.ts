/**
 * The Merkle log over all entries of a store: integration of entries, and reads of the log. Uses
 * only the port `LogStore`.
 */
export {
  compareWithHead,
  comparisonFault,
  type LogComparison,
  type LogHead,
  logHead,
} from './head.ts';
export { type IntegrateOptions, integrateLog } from './integrate.ts';
export { askNodes } from './nodes.ts';
