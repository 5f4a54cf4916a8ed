import { existsSync, type Stats } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Json } from 'assize/internal/base';
import { hasStar, isUnder, mayBeUnder, resourcesOf, type ToolSpec } from '#gateway';
import { foundBelow, isLeftOut, isMissing, LOOK_MS, type Names, unseen } from './below.ts';
import { isOfProcess, namedPaths } from './file-path.ts';
import { gitPlaces, type Only } from './git-places.ts';

/** The files that a call, or a part of one, uses. */
export interface Use extends Names {
  /** The absolute paths that it names. */
  readonly named: readonly string[];
  /** The folders in which it may read or write every file. */
  readonly below: readonly string[];
  /** The files there that it uses. Default: all of them. */
  readonly only?: Only;
  /** Also the files there that differ between two revisions. */
  readonly revisions: readonly string[];
  /** Whether it follows the symbolic links below those folders. */
  readonly follows: boolean;
  /** The time of this process at which looking ends: then the rest counts as reached. */
  readonly until: number;
  /** Whether it runs in a folder of this machine, so a folder that is missing has no files. */
  readonly isHere?: boolean;
}

/** A tool call, or a part of one, whose places are looked for. */
export interface Asking {
  readonly spec: ToolSpec | undefined;
  readonly args: Json;
  /** Whether it is a part of a command or of a file tool, as hooks make them. */
  readonly isPart: boolean;
  /**
   * The folder of relative names, if the tool may use files although it declares none. Then each
   * text of its arguments may be a path.
   */
  readonly folder?: string | undefined;
  /** The time on the clock of this process at which looking ends. Default: after `LOOK_MS`. */
  readonly until?: number;
}

/**
 * The places that a call may reach other than the paths that it names. A part has the folders
 * where it uses files, and both names of a path with links. Any other tool that gets a folder may
 * use everything below it, unless its `names_only` says that it does not.
 */
export async function reachesOf(
  { spec, args, isPart, folder, until = performance.now() + LOOK_MS }: Asking,
  patterns: readonly string[],
): Promise<readonly string[]> {
  if (spec?.reads === undefined && spec?.writes === undefined) {
    if (folder === undefined || patterns.length === 0) return [];
    const texts = textsBelow(args);
    if (texts === undefined) return patterns.flatMap((each) => unseen('/', each));
    const named = await everyName(texts, folder);
    const isMet = (path: string): boolean => patterns.some((each) => mayBeUnder(path, each));
    return [
      ...new Set([...named.filter(isMet), ...(await reachedFrom(named, spec, patterns, until))]),
    ];
  }
  const { reads, writes } = resourcesOf(spec, args);
  // A path that cannot be read has no meaning, and a rule about paths denies it.
  if ('problem' in reads || 'problem' in writes) return [];
  const paths = [...new Set([...reads.value, ...writes.value])];
  if (isPart) return reachedPlaces({ ...partUse(spec.name, paths, args), until }, patterns);
  const { root = '/' } = spec;
  const asGiven = (path: string): string =>
    isUnder(path, root) ? posix.relative(root, path) : path;
  const named = await everyName(paths.map(asGiven), root);
  const leads = named.filter((path) => !paths.includes(path));
  return [...new Set([...leads, ...(await reachedFrom(named, spec, patterns, until))])];
}

/** The places of a tool that gets paths as its arguments: everything below a folder. */
function reachedFrom(
  named: readonly string[],
  spec: ToolSpec | undefined,
  patterns: readonly string[],
  until: number,
): Promise<readonly string[]> {
  if (named.some(isOfProcess))
    return Promise.resolve(patterns.flatMap((each) => unseen('/', each)));
  const below = spec?.names_only === true ? [] : named.filter((path) => existsSync(path));
  return reachedPlaces({ named, below, until, ...NOTHING_MORE }, patterns);
}

const NOTHING_MORE = { except: [], include: [], revisions: [], follows: false } as const;

async function everyName(texts: readonly string[], folder: string): Promise<readonly string[]> {
  const found = await Promise.all(texts.map((text) => namedPaths(text, folder)));
  return [...new Set(found.flat())];
}

/** The texts of arguments that may be paths, with the folders of globs. Undefined: too many. */
function textsBelow(args: Json): readonly string[] | undefined {
  const found = new Set<string>();
  const rest: Json[] = [args];
  while (rest.length > 0) {
    const next = rest.pop() as Json;
    if (typeof next === 'object' && next !== null)
      rest.push(...Object.values(next), ...(Array.isArray(next) ? [] : Object.keys(next)));
    if (typeof next !== 'string' || next.length > PATH_MAX) continue;
    const text = pathOfUrl(next);
    const [, top] = /^(.*?)\/[^/]*[*?[{]/s.exec(text) ?? [];
    for (const each of [text, ...(top === undefined ? [] : [top || '/'])]) found.add(each);
    if (found.size > TEXTS_MAX) return undefined;
  }
  return [...found];
}

function pathOfUrl(text: string): string {
  try {
    return text.startsWith('file:') ? fileURLToPath(text) : text;
  } catch {
    return text;
  }
}

/** A longer text opens no file. */
const PATH_MAX = 4_096;
const TEXTS_MAX = 1_000;

function partUse(tool: string, named: readonly string[], args: Json): Omit<Use, 'until'> {
  const { below, except, include, revisions, flags, sandboxed, cwd, ...given } = args as {
    readonly [name: string]: Json;
  };
  // A sandbox hides files from whatever walks there, but not the copies that git has of them.
  const isGit = sandboxed === true && tool === 'shell/git';
  const only = isGit ? 'tracked' : given['only'];
  const folders = isGit && given['class'] !== 'read' ? [cwd as Json] : below;
  return {
    named,
    below: sandboxed === true && !isGit ? [] : textsIn(folders),
    except: textsIn(except),
    include: textsIn(include),
    ...(typeof only === 'string' && { only: only as Only }),
    revisions: textsIn(revisions),
    follows: textsIn(flags).some((flag) => FOLLOWS.test(flag)),
    isHere: typeof cwd === 'string' && existsSync(cwd),
  };
}

/** The options of usual programs that follow symbolic links, under their long names. */
const FOLLOWS = /^(?:--(?:dereference|dereference-recursive|follow)|-L)$/;

function textsIn(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

/**
 * The places that a use may reach beside the given paths: those of rules that are below a folder,
 * and the files that a symbolic link or another name leads to.
 */
async function reachedPlaces(use: Use, patterns: readonly string[]): Promise<readonly string[]> {
  const { named } = use;
  const others = patterns.filter((each) => !named.some((path) => mayBeUnder(path, each)));
  const globs = others.filter(hasStar);
  const places = await Promise.all(others.filter((each) => !hasStar(each)).map(placeOf));
  const found = new Set<string>();
  for (const { path, real, id } of places) {
    const isOther = real !== undefined && named.some((each) => isUnder(each, real));
    if (isOther || (id !== undefined && (await hasName(named, id)))) found.add(path);
  }
  for (const folder of use.below)
    for (const path of await reachedBelow(folder, use, places, globs)) found.add(path);
  return [...found].sort();
}

/** A place of a rule, as the system has it. */
interface Place {
  readonly path: string;
  /** Its path without symbolic links, if that is another one. */
  readonly real?: string;
  readonly kind: 'none' | 'file' | 'folder';
  /** The identity of a file that has several names. */
  readonly id?: string;
}

async function placeOf(path: string): Promise<Place> {
  const [stat, real] = await Promise.all([
    lstat(path).catch((error) => (isMissing(error) ? undefined : 'unknown')),
    realpath(path).catch(() => path),
  ]);
  const more = real === path ? {} : { real };
  if (stat === undefined) return { path, kind: 'none', ...more };
  if (typeof stat === 'string') return { path, kind: 'file', ...more };
  if (stat.isDirectory()) return { path, kind: 'folder', ...more };
  return { path, kind: 'file', ...more, ...(stat.nlink > 1 && { id: idOf(stat) }) };
}

async function hasName(paths: readonly string[], id: string): Promise<boolean> {
  const ids = paths.map((path) => lstat(path).then(idOf, () => undefined));
  return (await Promise.all(ids)).includes(id);
}

function idOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}

async function reachedBelow(
  folder: string,
  use: Use,
  places: readonly Place[],
  globs: readonly string[],
): Promise<readonly string[]> {
  const { only, revisions, follows } = use;
  const inside = places.filter((place) => isBelow(place, folder));
  // For example a folder on the machine of an agent, where the server does not run.
  if (!existsSync(folder) && use.isHere !== true)
    return [...inside.map(({ path }) => path), ...globs.flatMap((each) => unseen(folder, each))];
  if (only !== undefined) {
    const patterns = [...inside.map(({ path }) => path), ...globs];
    const isKept = (path: string): boolean => !isLeftOut(path, folder, use, false);
    const kept = await gitPlaces(folder, patterns, { only, revisions, isKept });
    if (kept !== undefined) return kept;
  }
  const there = inside.filter(
    ({ path, kind }) => kind !== 'none' && !isLeftOut(path, folder, use, kind === 'folder'),
  );
  if (globs.length === 0 && !follows) return there.map(({ path }) => path);
  const walk = await foundBelow(folder, globs, use);
  const isLed = (place: Place): boolean =>
    walk.links.some((link) => isBelow(place, link) || isUnder(link, place.real ?? place.path));
  const led = !follows ? [] : walk.whole ? places.filter(isLed) : places;
  return [...there, ...led].map(({ path }) => path).concat(walk.places);
}

function isBelow({ path, real }: Place, folder: string): boolean {
  return (
    path !== folder && (mayBeUnder(path, folder) || (real !== undefined && isUnder(real, folder)))
  );
}
