/**
 * The parts that the integrations of frameworks share: a tool call that is made through the gate.
 * No package of a framework is imported, and this folder is not an entry of the package.
 *
 * Guarantees: a tool is called only by the gate, and the value that it gave reaches its framework
 * as it is. The ledger keeps the record of the value.
 */
export { interimText, isInterimText, waitsText } from './interim.ts';
export { notKept } from './not-kept.ts';
export { personOf } from './person-of.ts';
export { makeOptions, TOOL_OPTIONS, type ToolOptions } from './tool-options.ts';
export { runTool, type ToolRun } from './tool-run.ts';
export { undoTools } from './undo-tools.ts';
