import type { Json } from 'assize/internal/base';
import { isKnownProgram, type Usage, usageOf } from '../programs/index.ts';
import { innerOf, isShellWrapper } from '../programs/wrappers.ts';
import { builtinOf } from './builtins.ts';
import { entered, type Folders, type Outcome, placesOf, same, unsure } from './folders.ts';
import type { Input, Reading } from './reading.ts';
import { isShell, readFind, readShell, readWrapped, withInput } from './shell-programs.ts';
import { type ShellWord, wordValues } from './shell-word.ts';
import { changesWhatRuns } from './variable-names.ts';
import { webWords } from './web-words.ts';
import { wordPaths } from './word-paths.ts';

/**
 * Adds the parts of a program with its arguments: itself, what its words name, and the programs
 * that it runs because of its words. Returns the folders of the commands after it.
 */
export function readProgram(
  words: readonly ShellWord[],
  env: readonly string[],
  reading: Reading,
  at: Folders,
  input: Input,
): Outcome {
  const [first, ...rest] = words;
  if (first === undefined) return same(at);
  const text = words.map((word) => word.text).join(' ');
  const name = first.value;
  const tool = name === null ? undefined : programTool(name);
  for (const word of rest) if (wordValues(word) === undefined) reading.parts.dynamic(word.text);
  if (env.some(changesWhatRuns)) reading.parts.dynamic(text);
  if (name === null || tool === undefined) {
    reading.parts.dynamic(text);
    return same(unsure(at));
  }
  const usage = addPart(tool, name, rest, env, reading, at);
  if (usage.runs === 'words') readTails(rest, usage, reading, at);
  addAddresses(baseName(name), rest, usage, reading);
  if (reading.functions.has(name)) {
    reading.parts.dynamic(text);
    return same(unsure(at));
  }
  return inner(name, rest, env, text, reading, at, input);
}

function addPart(
  tool: string,
  name: string,
  rest: readonly ShellWord[],
  env: readonly string[],
  reading: Reading,
  at: Folders,
): Usage {
  const words = name === '[' && rest.at(-1)?.value === ']' ? rest.slice(0, -1) : rest;
  const own =
    tool === 'file' ? wordPaths([{ text: name, value: name, prefix: '' }], at) : undefined;
  // A program at another path is not the one of its name.
  const known = tool === 'file' ? '' : (SAME[name] ?? baseName(name));
  const usage = withFound(usageOf(known, words), words);
  const inside = usage.enters.reduce((from, folder) => movedTo(from, folder), at);
  const named = wordPaths(
    [...words.filter((word) => !usage.texts.has(word)), ...(usage.names ?? [])],
    inside,
  );
  const text = [name, ...words.map((word) => word.text)].join(' ');
  if (!(own?.sure ?? true) || !named.sure || usage.dynamic) reading.parts.dynamic(text);
  const entry = usage.enters.length === 0 ? [] : inside.known;
  const paths = [...new Set([...(own?.paths ?? []), ...entry, ...named.paths])];
  const runsFiles = usage.runs !== undefined || tool === 'file' || isShell(baseName(name));
  if (runsFiles && reading.parts.hasWritten(paths)) reading.parts.dynamic(text);
  if (tool === 'git' && pushesElsewhere(usage, inside, at)) reading.parts.dynamic(text);
  reading.parts.add('shell', tool, {
    ...{ argv: words.map(({ value }) => value), paths },
    ...(env.length > 0 && { env }),
    ...usageArgs(usage, inside),
  });
  return usage;
}

/** Whether git writes branches of another repository, as a push there does. */
function pushesElsewhere(
  { command, flags, targets, class: toolClass }: Usage,
  inside: Folders,
  { start = '/' }: Folders,
): boolean {
  const writes =
    command === 'fetch' ? targets.some((each) => each.includes(':')) : command === 'branch';
  const isHere = inside.known.every((each) => each === start || each.startsWith(`${start}/`));
  return writes && toolClass !== 'read' && !(isHere && !flags.includes('--git-dir'));
}

/** Names of programs that stand in most texts for something else. */
const USUAL_WORDS = /^(?:at|batch|edit|ex|man|more|most|r|screen|script|top|view)$/;

/** The programs and texts among the words of a program that may run them. */
function readTails(
  words: readonly ShellWord[],
  { texts }: Usage,
  reading: Reading,
  at: Folders,
): void {
  for (const [i, word] of words.entries()) {
    if (word.value === null || texts.has(word)) continue;
    const text = word.value.replace(/^--?[\w-]+=/, '');
    const [name = '', ...more] = text.split(/\s+/);
    if (USUAL_WORDS.test(name) || !(isKnownProgram(name) || isShell(name))) continue;
    if (more.length === 0) reading.program(words.slice(i), [], at);
    else reading.maybeText(text, at);
  }
}

/** A program uses the files that `find` gives it, and what is below folders if it goes there. */
function withFound(usage: Usage, words: readonly ShellWord[]): Usage {
  const given = words.filter((word) => word.found !== undefined && !usage.texts.has(word));
  if (given.length === 0) return usage;
  const include = usage.below.length === 0 ? given.flatMap(({ found = [] }) => found) : [];
  const { only: _, ...rest } = usage;
  return { ...rest, below: [...usage.below, ...given], except: [], include };
}

/** The usage as arguments of a part. */
function usageArgs(usage: Usage, at: Folders): { readonly [name: string]: Json } {
  const { command, flags, targets, remote, refs, class: toolClass } = usage;
  const { except, include = [], only, revisions } = usage;
  const below = usage.below.flatMap((word) =>
    (wordValues(word) ?? [word.prefix]).flatMap((each) => placesOf(at, each).paths),
  );
  const left = except.flatMap((each) => (each.startsWith('./') ? placesOf(at, each).paths : each));
  return {
    ...{ command, flags, targets, refs, class: toolClass },
    ...(remote !== undefined && { remote }),
    ...(below.length > 0 && { below: [...new Set(below)] }),
    ...(below.length > 0 && left.length > 0 && { except: left }),
    ...(below.length > 0 && include.length > 0 && { include }),
    ...(below.length > 0 && only !== undefined && { only }),
    ...(below.length > 0 && revisions !== undefined && { revisions }),
  };
}

/** The folders of a program that enters one itself. Only the system knows the folder of null. */
function movedTo(at: Folders, folder: string | null): Folders {
  if (folder === null) return unsure(at);
  const { paths, sure } = placesOf(at, folder);
  return { ...entered(at, folder), known: paths, sure };
}

function addAddresses(
  name: string,
  words: readonly ShellWord[],
  { targets }: Usage,
  reading: Reading,
): void {
  const { urls, unclear } = webWords(name, words, targets);
  for (const url of urls) reading.parts.add('web', 'fetch', { url });
  for (const word of unclear) reading.parts.dynamic(word);
}

function inner(
  name: string,
  words: readonly ShellWord[],
  env: readonly string[],
  text: string,
  reading: Reading,
  at: Folders,
  input: Input,
): Outcome {
  const builtin = builtinOf(name);
  if (builtin !== undefined) return builtin(words, reading, at, text);
  const base = baseName(name);
  if (isShell(base)) readShell(words, text, reading, at);
  if (base === 'find') readFind(words, text, reading, at);
  const written = innerOf(base, words);
  if (written === undefined) return same(at);
  const wrapped = base === 'xargs' ? withInput(written, input) : written;
  const { parts } = reading;
  if (wrapped.env.some(changesWhatRuns)) parts.dynamic(text);
  if (readWrapped(base, wrapped, text, reading, at) || wrapped.words.length === 0) return same(at);
  const outcome = reading.program(wrapped.words, [...env, ...wrapped.env], at);
  return isShellWrapper(name) ? outcome : same(at);
}

/** The names of programs that rules can name: the names of tools, without a slash and a colon. */
const PROGRAM = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}$/;

/** Names that the vocabulary of parts uses for something else. */
const TAKEN: ReadonlySet<string> = new Set(['dynamic', 'file', 'read', 'unparsed', 'write']);

/** Builtins under names that rules cannot write. */
const SAME: Readonly<Record<string, string>> = { '[': 'test', ':': 'true', '.': 'source' };

/**
 * The name of a program, also of one in the usual folders. `file` for a program at another path,
 * and undefined for a name that rules cannot write.
 */
export function programTool(name: string): string | undefined {
  if (Object.hasOwn(SAME, name)) return SAME[name];
  const usual = /^\/(?:usr\/|usr\/local\/)?bin\/([^/]+)$/.exec(name)?.[1];
  if (usual === undefined && name.includes('/')) return 'file';
  const program = usual ?? name;
  if (!PROGRAM.test(program)) return undefined;
  return TAKEN.has(program) ? `program:${program}` : program;
}

/** The last name of the path of a program: what the program takes itself for. */
export function baseName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}
