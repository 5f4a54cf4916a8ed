import type { Json } from 'assize/internal/base';
import type { CallContent, CallPart } from '#calls';
import { fileParts, ownCall, serverName, shellParts, toolName, unparsed } from '../own-call.ts';
import type { ToolEvent } from '../shared-events.ts';
import { patchOf, patchParts } from './apply-patch.ts';

/** The server of Codex's own tools in rules. */
const CODEX = 'codex';

/**
 * The call that Codex is about to make, as rules judge it: in the same parts as a call of Claude
 * Code. `cwd` of the event is the folder of the command. `hasSandbox`: its commands run in a
 * sandbox of the rules in force.
 */
export async function contentOf(event: ToolEvent, hasSandbox: boolean): Promise<CallContent> {
  const mcp = mcpTool(event.tool_name);
  if (mcp !== undefined)
    return { ...mcp, args: event.tool_input as { readonly [name: string]: Json } };
  return ownCall(CODEX, event, await partsOf(event), hasSandbox);
}

/** The parts of a call of Codex's own tools. Undefined: only its name says more. */
async function partsOf({
  tool_name,
  tool_input,
  cwd,
}: ToolEvent): Promise<readonly CallPart[] | undefined> {
  switch (tool_name) {
    case 'Bash':
      return await commandParts(tool_input['command'], cwd);
    case 'apply_patch':
      return await patchParts(tool_input['command'], cwd);
    case 'view_image': {
      const { path } = tool_input;
      // Codex replaces the sign with the home folder.
      return typeof path === 'string' && path.startsWith('~')
        ? [unparsed(path)]
        : await fileParts('read', path, cwd);
    }
    default:
      return undefined;
  }
}

/** Codex itself applies a patch that a command names, and runs no program for it. */
async function commandParts(command: unknown, cwd: string): Promise<readonly CallPart[]> {
  const patch = patchOf(command);
  if (patch !== undefined) return patchParts(patch, cwd);
  const parts = await shellParts(command, cwd);
  return parts.some(isPatch) ? [...parts, unparsed(command)] : parts;
}

/** Whether the part applies a patch whose files only its text has. */
function isPatch({ server, tool }: CallPart): boolean {
  return server === 'shell' && /^apply_?patch$/.test(tool);
}

/**
 * The server and the tool of a call over MCP. Codex does not say where a server was configured, so
 * each has `unknown:` in its name, and no rule about a server of the person is about it. Where the
 * name could mean several servers, it means none.
 */
function mcpTool(name: string): { readonly server: string; readonly tool: string } | undefined {
  if (!name.startsWith('mcp__')) return undefined;
  const [, server, tool] = /^mcp__((?:(?!__).)*[^_])__([^_](?:(?!__).)*)$/s.exec(name) ?? [];
  if (server === undefined || tool === undefined)
    return { server: 'unknown-mcp', tool: toolName(name) };
  return { server: serverName(`unknown:${server}`), tool: toolName(tool) };
}
