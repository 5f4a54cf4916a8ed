/**
 * Tools from declarations that are plain data: what a tool is, beside what it calls.
 *
 * Guarantees: a declaration that can't be used is refused by name before anything is called, and an input of which a call could not be made
 * where it is given; calls that differ in what their keys name have different keys, and so have those of different tools at one function; what
 * undoes a call gets its arguments from the input and the result, and a key of its own, and what it says it has left is kept; where arguments
 * can't be made, nothing was called.
 *
 * Never: evaluates what a declaration says; calls anything but the tools and functions that it was given.
 */
export {
  type Callables,
  type Called,
  declaredTool,
  declaredTools,
  type ToolDeclaration,
} from './declared-tool.ts';
export type { Mapping } from './mapping.ts';
