/**
 * The Merkle log over all entries of a store: how entries get their places, and what the log says. Reads and writes by the
 * port `LogStore` alone.
 */
export { type LogHead, logHead, type Standing, standingFault, standingOf } from './head.ts';
export { type IntegrateOptions, integrateLog } from './integrate.ts';
export { askNodes } from './nodes.ts';
