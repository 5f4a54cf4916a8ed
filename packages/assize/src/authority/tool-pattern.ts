/** Whether a value is the name of a tool: lower-case segments between dots, such as `bank.pay`. */
export function isToolName(value: unknown): value is string {
  return typeof value === 'string' && NAME.test(value);
}

/** Whether a value is the name of a tool, the group of tools `bank.*`, or `**` for all tools. */
export function isToolPattern(value: unknown): value is string {
  return typeof value === 'string' && PATTERN.test(value);
}

/** Whether a pattern of tools includes a tool. */
export function matchesTool(pattern: string, tool: string): boolean {
  if (pattern === '**') return true;
  return pattern.endsWith('.*') ? tool.startsWith(pattern.slice(0, -1)) : tool === pattern;
}

const NAME = /^[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*$/;
const PATTERN = /^(?:\*\*|[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*(?:\.\*)?)$/;
