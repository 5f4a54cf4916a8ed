/**
 * Tools from declarations that are plain data: the description of a tool, and the callables behind
 * it.
 * Guarantees: an unusable declaration is refused by name before any call. An input for which no
 * call could be made is refused when it is given. Calls that differ in the fields of their keys
 * have different keys, and so do calls of different tools at one function. A compensation gets its
 * arguments from the input and the result, and its own key. The residue that it reports is stored.
 * If arguments can't be made, nothing is called.
 * Never: evaluates code from a declaration; calls a tool or function that it was not given.
 */
export {
  type Callables,
  type DeclaredCall,
  declaredTool,
  declaredTools,
  type ToolDeclaration,
} from './declared-tool.ts';
export type { Mapping } from './mapping.ts';
