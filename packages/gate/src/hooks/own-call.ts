import type { Json } from 'assize/internal/base';
import type { CallContent, CallPart } from '#calls';
import { PARTS_MAX } from '#gateway';
import { canonicalPath } from './calls/file-path.ts';
import { placed } from './calls/placed-parts.ts';
import { commandParts } from './calls/shell-command.ts';
import type { ToolEvent } from './events.ts';
import { settingsParts } from './settings-files.ts';
import { toolName } from './tool-names.ts';

/**
 * The call of a tool that the agent program has itself. `server` is its name in rules. Without
 * parts only the name of the tool says what the call does.
 */
export function ownCall(
  server: string,
  { tool_name, tool_input }: ToolEvent,
  found: readonly CallPart[] | undefined,
): CallContent {
  const call = { server, tool: toolName(tool_name), args: tool_input as { readonly [name: string]: Json } };
  if (found === undefined) return call;
  const parts = [...found, ...settingsParts(found, server)];
  return { ...call, parts: parts.length <= PARTS_MAX ? parts : [unparsed(tool_input['command'])] };
}

/** The parts of a command that begins in a folder. */
export async function shellParts(command: unknown, given: string): Promise<readonly CallPart[]> {
  if (typeof command !== 'string') return [unparsed(command)];
  const { path, resolved } = await canonicalPath(given, '/');
  return placed(commandParts(command, { cwd: resolved ?? path }), resolved ?? path);
}

/** A part for each name of a file. */
export async function fileParts(tool: string, given: unknown, cwd: string): Promise<readonly CallPart[]> {
  if (typeof given !== 'string') return [{ server: 'files', tool, args: { path: '' } }];
  return (await bothPaths(given, cwd)).map((path) => ({ server: 'files', tool, args: { path } }));
}

/** The absolute path of a file, and the path that symbolic links on the way lead to. */
export async function bothPaths(given: string, cwd: string): Promise<readonly string[]> {
  const { path, resolved } = await canonicalPath(given, cwd);
  return resolved === undefined ? [path] : [path, resolved];
}

/** A text that cannot be read safely. */
export function unparsed(text: unknown): CallPart {
  return { server: 'shell', tool: 'unparsed', args: { text: textOf(text).slice(0, 4_000).toWellFormed() } };
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value.toWellFormed() : '';
}
