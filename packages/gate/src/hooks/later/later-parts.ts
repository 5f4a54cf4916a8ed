import { readdirSync, readFileSync, statSync } from 'node:fs';
import { posix } from 'node:path';
import type { Json } from 'assize/internal/base';
import type { CallPart } from '#calls';
import { isUnder, mayBeUnder } from '#gateway';
import { foundBelow, gitText, isLeftOut, type Names, repositoryOf } from '#reach';
import { isInterpreter } from '../calls/programs/interpreters.ts';
import { isShell } from '../calls/shell/shell-programs.ts';
import { commandParts } from '../calls/shell-command.ts';
import { OWN_PATHS, RUN_LATER } from './run-later.ts';

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
    const patterns = [...lines.flatMap(({ paths }) => paths), ...OWN_PATHS];
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
  if (before === null) return true;
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
  // Such a program runs the file that its first operand names, and does not write it.
  const isRunner = isShell(tool) || isInterpreter(tool);
  return isRunner ? named.filter((each) => each !== scriptOf(args)) : named;
}

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

/**
 * The folder of the hooks of the repository around a folder, the program that tells git which files
 * changed, and the scripts that these call.
 */
export async function hookFiles(within: string): Promise<readonly string[]> {
  const top = repositoryOf(within);
  if (top === undefined) return [];
  const { folder, monitor } = await hookPlaces(top);
  const more = monitor === undefined ? [] : [hookAt(monitor, top)];
  const called = [...hooksIn(folder, top), ...more].flatMap(({ scripts }) => [...scripts]);
  return [folder, ...more.map(({ path }) => path), ...called];
}

/** A part for each hook that a command of git may run and whose commands its text does not tell. */
export async function hookParts(parts: readonly CallPart[]): Promise<readonly CallPart[]> {
  const uses = parts.filter(
    ({ server, tool, args }) => server === 'shell' && tool === 'git' && args['class'] !== 'read',
  );
  const entered = parts.filter(({ tool }) => uses.length > 0 && /^(?:git|cd|pushd)$/.test(tool));
  const places = entered.flatMap(({ args }) =>
    textsIn([args['cwd'] ?? null, args['paths'] ?? []].flat()),
  );
  const tops = new Set(places.flatMap((place) => repositoryOf(place) ?? []));
  const found: CallPart[] = [];
  for (const top of tops)
    for (const { path, isTold } of hooksIn((await hookPlaces(top)).folder, top))
      if (!isTold && uses.some(({ args }) => mayRun(String(args['command']), path)))
        found.push({ server: 'shell', tool: 'dynamic', args: { text: `the hook ${path}` } });
  return found;
}

/** Uses of git that run most hooks. Others run only those that each change of git runs. */
const RUNS_HOOKS =
  /^(?:am|checkout|cherry-pick|commit|gc|merge|pull|push|rebase|revert|stash branch|switch|worktree add)$/;

function mayRun(command: string, path: string): boolean {
  const hook = posix.basename(path);
  if (hook === 'pre-push') return command === 'push';
  if (/^(?:post-index-change|reference-transaction)$/.test(hook)) return true;
  if (hook === 'pre-auto-gc' && command === 'fetch') return true;
  // A push to a repository of this machine runs its hooks.
  if (/^(?:update|proc-receive|push-to-checkout)$/.test(hook)) return command === 'push';
  return /^(?:pre|post|prepare|commit|applypatch)-[a-z-]+$/.test(hook) && RUNS_HOOKS.test(command);
}

async function hookPlaces(top: string): Promise<{ folder: string; monitor?: string }> {
  const names = '^core[.](hookspath|fsmonitor)$';
  const text = await gitText(top, ['config', '--type=path', '--get-regexp', names]);
  // The last value is the one with which `gitText` keeps programs from running.
  const setOf = (name: string): string | undefined =>
    (text ?? '')
      .split('\n')
      .flatMap((line) => line.split(`${name} `)[1] ?? [])
      .at(-2);
  const [folder, monitor = ''] = ['core.hookspath', 'core.fsmonitor'].map(setOf);
  const more = !/^(?:|true|false|yes|no|on|off|\d)$/i.test(monitor) && {
    monitor: posix.resolve(top, monitor),
  };
  if (folder !== undefined) return { folder: posix.resolve(top, folder), ...more };
  // The hooks of a work tree are those of its repository.
  const isOwn = statSync(posix.join(top, '.git')).isDirectory();
  const shared = isOwn ? undefined : await gitText(top, ['rev-parse', '--git-common-dir']);
  return { folder: posix.resolve(top, shared?.trimEnd() ?? '.git', 'hooks'), ...more };
}

/** Whether a program runs the files that it names. */
function runsScripts(tool: string): boolean {
  return isShell(tool) || isInterpreter(tool) || /^(?:source|env|npx|exec|command)$/.test(tool);
}

const TEXT_BYTES = 64 * 1_024;
const SCRIPTS_MAX = 64;

/** A hook, with the scripts that it calls and those that such scripts call. */
interface Hook {
  readonly path: string;
  readonly scripts: ReadonlySet<string>;
  /** Whether their texts tell all that they run. */
  readonly isTold: boolean;
}

function hooksIn(folder: string, top: string): readonly Hook[] {
  // Husky keeps its own hooks in such a folder, and they run the files above it.
  return filesIn(folder.replace(/\/_$/, '')).map((path) => hookAt(path, top));
}

function hookAt(path: string, top: string): Hook {
  const [scripts, left] = [new Set<string>(), [path]];
  let isTold = true;
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    const text = textOf(at);
    if (text === undefined) continue;
    isTold &&= text !== null && isOfShell(text);
    const parts = commandParts((text ?? '').replace(HUSKY, ''), { cwd: top });
    for (const { tool, args } of parts.filter(({ server }) => server === 'shell')) {
      isTold &&= tool !== 'dynamic' && tool !== 'unparsed';
      // The first path of a file that is run is its own.
      const isFile = tool === 'file';
      const runs = isFile || (runsScripts(tool) && args['class'] !== 'read');
      const named = textsIn(args['paths']).slice(0, isFile ? 1 : undefined);
      for (const each of runs ? named : []) {
        if (each === top || scripts.has(each)) continue;
        const isRead = scripts.size < SCRIPTS_MAX && !isInterpreter(tool);
        isTold &&= isRead || textOf(each) === undefined;
        scripts.add(each);
        if (isRead) left.push(each);
      }
    }
  }
  return { path, scripts, isTold };
}

/** The first line of hooks of older versions of Husky. */
const HUSKY = /^\. "\$\(dirname (?:-- )?"\$0"\)\/_\/husky\.sh"$/m;

/** Whether a shell runs a script: its first line names one, or no program. */
function isOfShell(text: string): boolean {
  const [, program] = /^#!\s*(?:\S*\/env\s+)?(?:\S*\/)?(\S*)/.exec(text) ?? [];
  return program === undefined || isShell(program);
}

/** The files in a folder of hooks, if it is there. */
function filesIn(folder: string): readonly string[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  const names = readdirSync(folder).filter((name) => !name.endsWith('.sample'));
  return names.map((name) => posix.join(folder, name));
}

/** The text of a file, or undefined if there is none. Null: it is too long, or cannot be read. */
function textOf(path: string): string | null | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isFile() !== true) return undefined;
    return stat.size <= TEXT_BYTES ? readFileSync(path, 'utf8') : null;
  } catch {
    return null;
  }
}
