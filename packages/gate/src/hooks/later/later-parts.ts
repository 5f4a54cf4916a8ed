import { readdirSync, readFileSync, statSync } from 'node:fs';
import { posix } from 'node:path';
import type { Json } from 'assize/internal/base';
import type { CallPart } from '#calls';
import { isUnder, mayBeUnder } from '#gateway';
import { foundBelow, gitText, isLeftOut, type Names, repositoryOf } from '#reach';
import { commandParts } from '../calls/shell-command.ts';
import { RUN_LATER } from './run-later.ts';

/**
 * The paths that parts of a call write and that a program runs or obeys later. `input` is that of a
 * file tool.
 */
export async function runLater(
  parts: readonly CallPart[],
  input: CallPart['args'] = {},
): Promise<readonly string[]> {
  const written = [...new Set(parts.flatMap(writtenBy))];
  const found: string[] = [];
  for (const path of written) {
    const lines = RUN_LATER.filter(({ paths }) => paths.some((each) => mayBeUnder(path, each)));
    const isLater = lines.some(
      ({ member }) => member === undefined || changesMember(path, member, input),
    );
    if (isLater || (await isOfHooks(path))) found.push(path);
  }
  for (const { folder, ...names } of parts.flatMap(changedBelow)) {
    // Members of package.json count only if the command names that file.
    const lines = RUN_LATER.filter(
      ({ member }) => member === undefined || names.include.length > 0,
    );
    const patterns = lines.flatMap(({ paths }) => paths);
    const { places, whole } = await foundBelow(folder, patterns, { ...names, follows: false });
    found.push(...(whole ? places : [folder]));
    const called = await hookFiles(folder);
    found.push(
      ...called.filter((path) => isUnder(path, folder) && !isLeftOut(path, folder, names, false)),
    );
  }
  return found;
}

/** Whether a call may give a member of a JSON file another value. */
function changesMember(path: string, member: string, input: CallPart['args']): boolean {
  const before = textOf(path);
  const after = textAfter(before ?? '', input);
  // A program that writes a new file is not asked what it writes.
  if (after === undefined) return before !== undefined;
  const [old, now] = [before ?? '{}', after].map((text) => memberOf(text, member));
  return old === undefined || now === undefined || old !== now;
}

/** The text of a file after a file tool. Undefined: the input does not tell it. */
function textAfter(before: string, input: CallPart['args']): string | undefined {
  const { content, old_string: given, edits = [input] } = input;
  // Of an input with the members of several tools it is not known which one counts.
  if ([content, given, input['edits']].filter((each) => each !== undefined).length !== 1)
    return undefined;
  if (typeof content === 'string') return content;
  let text = before;
  for (const edit of Array.isArray(edits) ? (edits as readonly CallPart['args'][]) : [{}]) {
    const { old_string: old, new_string: now, replace_all: all } = edit;
    if (typeof old !== 'string' || typeof now !== 'string') return undefined;
    text = all === true ? text.replaceAll(old, () => now) : text.replace(old, () => now);
  }
  return text;
}

/** The member of a JSON object as a text. Undefined: the text is not an object. */
function memberOf(text: string, member: string): string | undefined {
  try {
    const { [member]: value = null } = JSON.parse(text) as { readonly [name: string]: unknown };
    return JSON.stringify(value);
  } catch {
    // Another program may read it in its own way.
    return undefined;
  }
}

/** The folders below which a part changes files. What packages have is not run by its place. */
function changedBelow({
  server,
  tool,
  args,
}: CallPart): readonly ({ readonly folder: string } & Names)[] {
  const { below, class: toolClass, except, include } = args;
  if (server !== 'shell' || tool === 'git' || toolClass === 'read') return [];
  const names = { except: textsIn(except), include: textsIn(include) };
  return textsIn(below)
    .filter((folder) => !/\/node_modules(?:\/|$)/.test(folder))
    .map((folder) => ({ folder, ...names }));
}

function textsIn(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

/** The uses of git that write the files that they name. */
const GIT_WRITES = /^(?:checkout|restore|mv|apply|rm)$/;

function writtenBy({ server, tool, args }: CallPart): readonly string[] {
  const { path, paths, class: toolClass, command } = args;
  const named = [path, paths].flat().filter((each) => typeof each === 'string');
  if (server === 'files') return tool === 'read' || tool === 'search' ? [] : named;
  if (server !== 'shell' || tool === 'read' || toolClass === 'read') return [];
  if (tool === 'git' && !GIT_WRITES.test(String(command))) return [];
  return SCRIPT_RUNNERS.test(tool) ? named.filter((each) => each !== scriptOf(args)) : named;
}

/** Programs that run the file that their first operand names, and do not write it. */
const SCRIPT_RUNNERS = /^(?:(?:ba|da|k|z)?sh|node|tsx|bun|deno|python[\d.]*)$/;

function scriptOf({ targets, cwd }: CallPart['args']): string | undefined {
  const [first] = Array.isArray(targets) ? targets : [];
  return typeof first === 'string' && typeof cwd === 'string'
    ? posix.resolve(cwd, first)
    : undefined;
}

/** Whether the hooks of the repository around a file are there, or call it. */
async function isOfHooks(path: string): Promise<boolean> {
  const [folder, ...scripts] = await hookFiles(posix.dirname(path));
  return folder !== undefined && (isUnder(path, folder) || scripts.includes(path));
}

/** The folder of the hooks of the repository around a folder, and the scripts that they call. */
export async function hookFiles(within: string): Promise<readonly string[]> {
  const top = repositoryOf(within);
  if (top === undefined) return [];
  const folder = await hooksFolder(top);
  return [folder, ...scriptsOf(folder, top)];
}

async function hooksFolder(top: string): Promise<string> {
  const text = await gitText(top, ['config', '--type=path', '--get-all', 'core.hooksPath']);
  // The last value is the one with which `gitText` keeps hooks from running.
  const set = (text ?? '').trimEnd().split('\n').slice(0, -1).at(-1);
  return posix.resolve(top, set ?? '.git/hooks');
}

/** Programs that run the files that they name. */
const RUNNERS =
  /^(?:file|source|(?:ba|da|k|z)?sh|node|tsx|bun|deno|python[\d.]*|perl|ruby|env|npx|exec|command)$/;
const TEXT_BYTES = 64 * 1_024;
const SCRIPTS_MAX = 64;

/** The scripts that the hooks in a folder call, and those that such scripts call. */
function scriptsOf(folder: string, top: string): ReadonlySet<string> {
  // Husky keeps its own hooks in a folder of its own, and they run the files above it.
  const folders = folder.endsWith('/_') ? [folder, posix.dirname(folder)] : [folder];
  const left = folders.flatMap(namesIn).filter((path) => !path.endsWith('.sample'));
  const found = new Set<string>();
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    const text = textOf(at);
    if (text === undefined) continue;
    for (const { server, tool, args } of commandParts(text, { cwd: top })) {
      if (server !== 'shell' || !RUNNERS.test(tool) || args['class'] === 'read') continue;
      for (const path of args['paths'] as readonly string[]) {
        if (found.has(path) || found.size >= SCRIPTS_MAX || path === top) continue;
        found.add(path);
        left.push(path);
      }
    }
  }
  return found;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => posix.join(folder, name));
  } catch {
    // A folder that is not there has no hooks.
    return [];
  }
}

/** The text of a script. Undefined if the file cannot be read, or is too long. */
function textOf(path: string): string | undefined {
  try {
    const stat = statSync(path);
    return stat.isFile() && stat.size <= TEXT_BYTES ? readFileSync(path, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}
