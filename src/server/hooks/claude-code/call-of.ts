import type { Json } from '#base';
import { contentHash } from '#canon';
import { PARTS_MAX } from '#domains/gateway';
import { type AskedCall, callIdOf, sessionIdOf } from '../asked-call.ts';
import type { CallPart } from '../calls/call-part.ts';
import { canonicalPath } from '../calls/file-path.ts';
import { placed } from '../calls/placed-parts.ts';
import { commandParts } from '../calls/shell-command.ts';
import { settingsParts } from '../settings-files.ts';
import type { AskingTool, ToolEvent } from './events.ts';

/** The server of Claude Code's own tools in rules. */
export const CLAUDE_CODE = 'claude-code';

/** Where a server of tools was configured by the person, and not by a project or a plugin. */
const TRUSTED_SOURCES: ReadonlySet<string> = new Set(['user', 'local', 'managed', 'enterprise']);

/** Names that rules know as parts of calls. No server of tools has one of them. */
const RESERVED: ReadonlySet<string> = new Set(['files', 'shell', 'web', CLAUDE_CODE, 'codex']);

/**
 * The call that Claude Code is about to make, as rules judge it. Paths are absolute, and where a
 * symbolic link leads elsewhere, both names are parts.
 */
export async function askedCallOf(event: AskingTool): Promise<AskedCall> {
  const { session_id, agent_id, tool_use_id } = event;
  return {
    id: callIdOf(session_id, tool_use_id),
    session: sessionIdOf(session_id, agent_id),
    ...(await contentOf(event)),
  };
}

/** The tool and the arguments of a call, with what it does. */
export async function contentOf(
  event: ToolEvent,
): Promise<Pick<AskedCall, 'server' | 'tool' | 'args'> & { readonly parts?: readonly CallPart[] }> {
  const args = event.tool_input as { readonly [name: string]: Json };
  const mcp = mcpTool(event);
  if (mcp !== undefined) return { ...mcp, args };
  const tool = toolName(event.tool_name);
  const found = await partsOf(event);
  if (found === undefined) return { server: CLAUDE_CODE, tool, args };
  const parts = [...found, ...settingsParts(found, CLAUDE_CODE)];
  return { server: CLAUDE_CODE, tool, args, parts: parts.length <= PARTS_MAX ? parts : [unreadable(event)] };
}

/** The parts of a call of Claude Code's own tools. Undefined: only its name says more. */
async function partsOf({ tool_name, tool_input, cwd }: ToolEvent): Promise<readonly CallPart[] | undefined> {
  switch (tool_name) {
    case 'Bash':
    case 'Monitor':
      return await shellParts(tool_input, cwd);
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
    case 'Grep':
    case 'LS':
      return fileParts('search', tool_input['path'] ?? cwd, cwd);
    case 'WebFetch':
      return [{ server: 'web', tool: 'fetch', args: { url: textOf(tool_input['url']) } }];
    case 'WebSearch':
      return [{ server: 'web', tool: 'search', args: { query: textOf(tool_input['query']) } }];
    default:
      return undefined;
  }
}

async function shellParts(input: ToolEvent['tool_input'], given: string): Promise<readonly CallPart[]> {
  const { command } = input;
  if (typeof command !== 'string') return [{ server: 'shell', tool: 'unparsed', args: { text: '' } }];
  const { path, resolved } = await canonicalPath(given, '/');
  const parts = await placed(commandParts(command, { cwd: resolved ?? path }), resolved ?? path);
  return input['dangerouslyDisableSandbox'] === true
    ? [...parts, { server: CLAUDE_CODE, tool: 'unsandboxed', args: {} }]
    : parts;
}

async function fileParts(tool: string, given: unknown, cwd: string): Promise<readonly CallPart[]> {
  if (typeof given !== 'string') return [{ server: 'files', tool, args: { path: '' } }];
  const { path, resolved } = await canonicalPath(given, cwd);
  return [path, resolved].flatMap((each) =>
    each === undefined ? [] : [{ server: 'files', tool, args: { path: each } }],
  );
}

function unreadable({ tool_input }: ToolEvent): CallPart {
  return { server: 'shell', tool: 'unparsed', args: { text: textOf(tool_input['command']).slice(0, 4_000) } };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.toWellFormed() : '';
}

/**
 * The server and the tool of a call over MCP. A server that a project or a plugin brought has the
 * source in its name, so that no rule about a server of the person is about it.
 */
function mcpTool({ tool_name, mcp_server }: ToolEvent): { server: string; tool: string } | undefined {
  if (mcp_server === undefined)
    return tool_name.startsWith('mcp__') ? { server: 'unknown-mcp', tool: toolName(tool_name) } : undefined;
  const { name, source } = mcp_server;
  const prefix = `mcp__${name.replace(/[^A-Za-z0-9_-]/g, '_')}__`;
  const tool = tool_name.startsWith(prefix) ? tool_name.slice(prefix.length) : tool_name;
  return { server: mcpServerName(name, source), tool: toolName(tool) };
}

/** The name of an MCP server in rules. */
export function mcpServerName(name: string, source: string): string {
  const isOwn = TRUSTED_SOURCES.has(source) && !RESERVED.has(name.toLowerCase()) && !name.includes(':');
  return serverName(isOwn ? name : `${source}:${name}`);
}

function serverName(text: string): string {
  return /^[A-Za-z0-9][A-Za-z0-9_:@-]{0,99}$/.test(text) ? text : `unnamed-${contentHash(text).slice(0, 16)}`;
}

function toolName(text: string): string {
  return /^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,199}$/.test(text) ? text : `unnamed-${contentHash(text).slice(0, 16)}`;
}
