import { homedir } from 'node:os';
import { posix } from 'node:path';
import type { Json } from 'assize/internal/base';
import { contentHash } from 'assize/internal/canon';
import type { CallContent, CallPart } from '#calls';
import { PARTS_MAX, SERVER, TOOL } from '#gateway';
import { canonicalPath, isOfProcess, namedPaths, repositoryOf } from '#reach';
import { commandParts } from './calls/shell-command.ts';
import { hookParts, runLater } from './later/later-parts.ts';
import { isOwnFile } from './later/run-later.ts';
import type { ToolEvent } from './shared-events.ts';

/**
 * The call of a tool that the agent program has itself. `server` is its name in rules. Without
 * parts only the name of the tool says what the call does. The parts of a command in a sandbox have
 * `sandboxed`.
 */
export async function ownCall(
  server: string,
  { tool_name, tool_input }: ToolEvent,
  found: readonly CallPart[] | undefined,
  hasSandbox: boolean,
): Promise<CallContent> {
  const call = {
    server,
    tool: toolName(tool_name),
    args: tool_input as { readonly [name: string]: Json },
  };
  if (found === undefined) return call;
  const all = [
    ...found,
    ...found.flatMap(({ server: of, args: { path } }) =>
      of === 'files' && isOfProcess(path) ? unparsed(path) : [],
    ),
    ...(await settingsParts(found, call)),
    ...(await hookParts(found)),
  ];
  const parts = all.length <= PARTS_MAX ? all : [unparsed(tool_input['command'])];
  const { dangerouslyDisableSandbox: isOutside } = tool_input;
  const isSandboxed = hasSandbox && tool_name === 'Bash' && isOutside !== true;
  return { ...call, parts: isSandboxed ? parts.map(sandboxed) : parts };
}

function sandboxed(part: CallPart): CallPart {
  return part.server === 'shell' ? { ...part, args: { ...part.args, sandboxed: true } } : part;
}

/** The parts of a command that begins in a folder. */
export async function shellParts(command: unknown, given: string): Promise<readonly CallPart[]> {
  if (typeof command !== 'string') return [unparsed(command)];
  const { path, resolved } = await canonicalPath(given, '/');
  const cwd = resolved ?? path;
  const parts = commandParts(command, { cwd, home: homedir() });
  // A comment, or an assignment alone, does as much as `true`.
  return placed(parts.length > 0 ? parts : commandParts('true', { cwd }), cwd);
}

/** A part for each path that the name of a file can mean. */
export async function fileParts(
  tool: string,
  given: unknown,
  cwd: string,
): Promise<readonly CallPart[]> {
  if (typeof given !== 'string') return [{ server: 'files', tool, args: { path: '' } }];
  return (await namedPaths(given, cwd)).map((path) => ({ server: 'files', tool, args: { path } }));
}

/** A text that cannot be read safely. */
export function unparsed(text: unknown): CallPart {
  return {
    server: 'shell',
    tool: 'unparsed',
    args: { text: textOf(text).slice(0, 4_000).toWellFormed() },
  };
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value.toWellFormed() : '';
}

/**
 * Parts of calls that may read or change files with settings of agents, or that change what a
 * program runs later. They ask unless the rules say otherwise.
 */
async function settingsParts(
  parts: readonly CallPart[],
  { server, args }: CallPart,
): Promise<readonly CallPart[]> {
  const own = parts.flatMap(pathsOf).filter(isOwnFile);
  const isOfFiles = parts.every((part) => part.server === 'files');
  const paths = new Set([...own, ...(await runLater(parts, isOfFiles ? args : {}))]);
  return [...paths].map((path) => ({ server, tool: 'settings', args: { path } }));
}

function pathsOf({ args }: CallPart): readonly string[] {
  const { path, paths } = args;
  return [path, paths].flat().filter((each): each is string => typeof each === 'string');
}

/**
 * The parts of a command with their places: each program has the folder that the command begins in,
 * and a program that names no path reads that folder. A path that symbolic links lead elsewhere has
 * both names.
 */
async function placed(parts: readonly CallPart[], cwd: string): Promise<readonly CallPart[]> {
  const all: CallPart[] = [];
  for (const part of parts) {
    const { path, paths } = part.args;
    if (Array.isArray(paths)) {
      const named =
        (paths as readonly string[]).length === 0 ? [cwd] : (paths as readonly string[]);
      const places = ((part.args['below'] ?? []) as readonly string[]).map(belowPlace);
      const [found, below] = await Promise.all([allNames(named), allNames(places)]);
      const more = { paths: found, cwd, ...(below.length > 0 && { below }) };
      all.push({ ...part, args: { ...part.args, ...more } });
    } else if (typeof path === 'string') {
      for (const name of await bothNames(path))
        all.push({ ...part, args: { ...part.args, path: name } as Args });
    } else all.push(part);
  }
  return all;
}

/** The folder of a place in `below`. It can be the top folder of a work tree of git. */
function belowPlace(place: string): string {
  if (!place.endsWith('/:')) return place;
  const folder = posix.dirname(place);
  return repositoryOf(folder) ?? folder;
}

type Args = { readonly [name: string]: Json };

/** The paths of a list, with those that symbolic links lead to. */
async function allNames(names: readonly string[]): Promise<string[]> {
  return [...new Set((await Promise.all(names.map(bothNames))).flat())];
}

async function bothNames(name: string): Promise<string[]> {
  if (!name.startsWith('/')) return [name];
  const { resolved } = await canonicalPath(name, '/');
  return resolved === undefined ? [name] : [name, resolved];
}

/** A name of a server that rules can name. */
export function serverName(text: string): string {
  return SERVER.test(text) ? text : unnamed(text);
}

/** A name of a tool that rules can name. */
export function toolName(text: string): string {
  return TOOL.test(text) ? text : unnamed(text);
}

function unnamed(text: string): string {
  return `unnamed-${contentHash(text).slice(0, 16)}`;
}
