import type { Json } from 'assize/internal/base';
import type { CallContent, CallPart } from '#calls';
import { globbed } from '../calls/programs/search.ts';
import { fileParts, ownCall, serverName, shellParts, textOf, toolName } from '../own-call.ts';
import type { ToolEvent } from './events.ts';

/** The server of Claude Code's own tools in rules. */
export const CLAUDE_CODE = 'claude-code';

/** Where a server of tools was configured by the person, and not by a project or a plugin. */
const TRUSTED_SOURCES: ReadonlySet<string> = new Set(['user', 'local', 'managed', 'enterprise']);

/** Names that rules know as parts of calls. No server of tools has one of them. */
const RESERVED: ReadonlySet<string> = new Set(['files', 'shell', 'web', CLAUDE_CODE, 'codex']);

/**
 * The call that Claude Code is about to make, as rules judge it. Paths are absolute, and where a
 * symbolic link leads elsewhere, both names are parts. `hasSandbox`: its commands run in a sandbox
 * of the rules in force.
 */
export async function contentOf(event: ToolEvent, hasSandbox: boolean): Promise<CallContent> {
  const mcp = mcpTool(event);
  if (mcp !== undefined)
    return { ...mcp, args: event.tool_input as { readonly [name: string]: Json } };
  return ownCall(CLAUDE_CODE, event, await partsOf(event), hasSandbox);
}

/** The parts of a call of Claude Code's own tools. Undefined: only its name says more. */
async function partsOf({
  tool_name,
  tool_input,
  cwd,
}: ToolEvent): Promise<readonly CallPart[] | undefined> {
  switch (tool_name) {
    case 'Bash':
    case 'Monitor':
      return await bashParts(tool_input, cwd);
    case 'Read':
      return fileParts('read', tool_input['file_path'], cwd);
    case 'Write':
      return fileParts('write', tool_input['file_path'], cwd);
    case 'Edit':
    case 'MultiEdit':
      return fileParts('edit', tool_input['file_path'], cwd);
    case 'NotebookEdit':
      return fileParts('edit', tool_input['notebook_path'], cwd);
    case 'Glob':
      return globParts(tool_input, cwd);
    case 'Grep':
      return grepParts(tool_input, cwd);
    case 'LS':
      return fileParts('search', tool_input['path'] ?? cwd, cwd);
    case 'WebFetch':
      return [{ server: 'web', tool: 'fetch', args: { url: textOf(tool_input['url']) } }];
    case 'WebSearch':
      return [{ server: 'web', tool: 'search', args: { query: textOf(tool_input['query']) } }];
    case 'LSP':
      return fileParts('read', tool_input['filePath'], cwd);
    case 'Agent':
    case 'Task':
      // Its calls are made elsewhere, where no hook sees them.
      return tool_input['isolation'] === 'remote'
        ? [{ server: CLAUDE_CODE, tool: 'remote-agent', args: {} }]
        : undefined;
    default:
      return undefined;
  }
}

/** A pattern can begin with folders. These are searched in place of the given one. */
async function globParts(
  { path = '', pattern }: ToolEvent['tool_input'],
  cwd: string,
): Promise<readonly CallPart[]> {
  const [start = ''] = /^[^*?[{]*\//.exec(textOf(pattern)) ?? [];
  if (typeof path !== 'string' || start === '') return fileParts('search', path, cwd);
  const isWhole = /^(?:\/|~|\$)/.test(start);
  return fileParts('search', isWhole || path === '' ? start : `${path}/${start}`, cwd);
}

/** The search reads the files below its folder that its glob names, or that git does not ignore. */
async function grepParts(
  { path, glob }: ToolEvent['tool_input'],
  cwd: string,
): Promise<readonly CallPart[]> {
  const globs = textOf(glob).split(/[\s,]+(?![^{]*\})/);
  const { include, except } = globbed(globs.filter((each) => each !== ''));
  const only = include.length === 0 && { only: 'unignored' };
  return (await fileParts('search', path ?? cwd, cwd)).map((part) => ({
    ...part,
    args: {
      ...part.args,
      below: [part.args['path'] as string],
      include,
      ...(except.length > 0 && { except }),
      ...only,
    },
  }));
}

async function bashParts(
  input: ToolEvent['tool_input'],
  cwd: string,
): Promise<readonly CallPart[]> {
  const parts = await shellParts(input['command'], cwd);
  return typeof input['command'] === 'string' && input['dangerouslyDisableSandbox'] === true
    ? [...parts, { server: CLAUDE_CODE, tool: 'unsandboxed', args: {} }]
    : parts;
}

/**
 * The server and the tool of a call over MCP. A server that a project or a plugin brought has the
 * source in its name, so that no rule about a server of the person is about it.
 */
function mcpTool({
  tool_name,
  mcp_server,
}: ToolEvent): { server: string; tool: string } | undefined {
  if (mcp_server === undefined)
    return tool_name.startsWith('mcp__')
      ? { server: 'unknown-mcp', tool: toolName(tool_name) }
      : undefined;
  const { name, source } = mcp_server;
  const prefix = `mcp__${name.replace(/[^A-Za-z0-9_-]/g, '_')}__`;
  const tool = tool_name.startsWith(prefix) ? tool_name.slice(prefix.length) : tool_name;
  return { server: mcpServerName(name, source), tool: toolName(tool) };
}

/** The name of an MCP server in rules. */
export function mcpServerName(name: string, source: string): string {
  const isOwn =
    TRUSTED_SOURCES.has(source) && !RESERVED.has(name.toLowerCase()) && !name.includes(':');
  return serverName(isOwn ? name : `${source}:${name}`);
}
