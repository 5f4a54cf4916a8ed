/**
 * Names of servers, tools, agents and rules. A server has no dot and no slash, so `server/tool` and
 * `server.tool` name one tool only.
 */

export const SERVER: RegExp = /^[A-Za-z0-9][A-Za-z0-9_:@-]{0,99}$/;
export const TOOL: RegExp = /^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,199}$/;
/** Neither name has the `|` that parts the keys of the state. */
export const AGENT: RegExp = /^[A-Za-z0-9][A-Za-z0-9_.:@+-]{0,199}$/;
export const CALL: RegExp = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,199}$/;
/** Rules, limits and standing approvals. No character needs an escape in a pointer. */
export const RULE: RegExp = /^[a-z0-9][a-z0-9-]{0,63}$/;
export const UNIT: RegExp = /^[a-z][a-z0-9_]{0,31}$/;
/** `*`, `server/*`, `server/get_*` or `server/tool`. */
export const TOOL_PATTERN: RegExp =
  /^(?:\*|[A-Za-z0-9][A-Za-z0-9_:@-]{0,99}\/(?:\*|[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,199}\*?))$/;

/** The name of a tool in rules and in the state. */
export function toolKey(server: string, tool: string): string {
  return `${server}/${tool}`;
}

/** The name of the registered tool that makes the calls of a tool. */
export function registeredName(server: string, tool: string): string {
  return `${server}.${tool}`;
}

/** Whether a pattern of tools matches the tool `server/tool`. Names are compared exactly. */
export function matchesTool(pattern: string, key: string): boolean {
  if (pattern === '*' || pattern === key) return true;
  return pattern.endsWith('*') && key.startsWith(pattern.slice(0, -1));
}

export function matchesSome(patterns: readonly string[], key: string): boolean {
  return patterns.some((pattern) => matchesTool(pattern, key));
}
