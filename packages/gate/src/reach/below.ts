import type { Dirent } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { posix } from 'node:path';
import { folderOf, isUnder, mayBeUnder } from '#gateway';

/** The files below a folder that a use is about, by their names. */
export interface Names {
  /**
   * Left out: absolute paths, and names. A name that ends with `/` is that of a folder, another
   * that of a file.
   */
  readonly except: readonly string[];
  /** If there are any: only files with one of these names. */
  readonly include: readonly string[];
}

/** How many names are looked at for one folder. Above it, every place counts as found. */
const NAMES_MAX = 50_000;
/** Milliseconds for all folders of a call: its agent program gives up on a slow answer. */
export const LOOK_MS = 4_000;

export interface Found {
  /** A file or folder of each pattern that has one. */
  readonly places: readonly string[];
  /** The files and folders that symbolic links on the way lead to, if they are followed. */
  readonly links: readonly string[];
  /** Whether all names could be looked at. */
  readonly whole: boolean;
}

/**
 * Looks below a folder for what patterns name. A pattern for which too many names would have to be
 * looked at, or a folder that cannot be read, counts as found: its place is the pattern itself.
 */
export async function foundBelow(
  folder: string,
  patterns: readonly string[],
  use: Names & { readonly follows: boolean; readonly until?: number },
): Promise<Found> {
  const [places, links]: [string[], string[]] = [[], []];
  let [names, whole] = [0, true];
  const { follows, until = performance.now() + LOOK_MS } = use;
  let left = patterns;
  const folders = follows ? [folder] : startsOf(folder, patterns.map(folderOf));
  const mayMeet = nameTests(patterns, use.include.length > 0 ? undefined : [...folders]);
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    const entries = await entriesOf(at);
    if (entries === undefined) {
      places.push(...left.flatMap((one) => unseen(at, one)));
      whole = false;
    }
    for (const entry of entries ?? []) {
      if (++names > NAMES_MAX || performance.now() > until)
        return {
          places: places.concat(left.flatMap((one) => unseen(folder, one))),
          links,
          whole: false,
        };
      const path = posix.join(at, entry.name);
      if (isLeftOut(path, folder, use, entry.isDirectory())) continue;
      // With names to look for, what a folder has inside decides.
      const counts = !entry.isDirectory() || use.include.length === 0;
      const met = left.filter(
        (pattern) => counts && mayMeet(pattern, entry.name) && mayBeUnder(path, pattern),
      );
      if (met.length > 0) places.push(path);
      left = left.filter((each) => !met.includes(each));
      if (left.length === 0 && !follows) return { places, links, whole: true };
      if (entry.isDirectory()) folders.push(path);
      if (follows && entry.isSymbolicLink()) links.push(await realpath(path).catch(() => path));
    }
  }
  return { places, links, whole };
}

/**
 * A cheap test of a name before its path is compared. A folder on the way that is met is found by
 * its own name, so below it only the last name of a pattern decides. `starts`: the folders in which
 * the walk begins. Undefined, or for a pattern that has one of them: each name passes.
 */
function nameTests(
  patterns: readonly string[],
  starts: readonly string[] | undefined,
): (pattern: string, name: string) => boolean {
  const tests = new Map<string, RegExp>();
  for (const pattern of patterns) {
    const last = posix.basename(pattern);
    const isAny = last === '**' || !starts || starts.some((one) => mayBeUnder(one, pattern));
    const text = last.replace(/[^\w*]/g, '\\$&').replaceAll('*', '.*');
    if (!isAny && ASCII.test(last)) tests.set(pattern, new RegExp(`^${text}$`, 'is'));
  }
  return (pattern, name) => (tests.get(pattern)?.test(name) ?? true) || !ASCII.test(name);
}

/** Other characters may be equal to these under other names. */
const ASCII = /^[\x21-\x7e]+$/;

/** The folders to look in: of a pattern for a folder far below, only that folder. */
function startsOf(folder: string, withins: readonly string[]): string[] {
  const starts = withins.flatMap((within) =>
    mayBeUnder(folder, within) ? [folder] : mayBeUnder(within, folder) ? [within] : [],
  );
  return [...new Set(starts)].filter(
    (one) => !starts.some((two) => two !== one && isUnder(one, two)),
  );
}

/** The place of a pattern that counts as found below a folder. Undefined: none can be there. */
export function unseen(folder: string, pattern: string): readonly string[] {
  if (mayBeUnder(folderOf(pattern), folder)) return [pattern.replace(/^\**\//, '/')];
  const names = pattern.split('/');
  const rests = names.map((_, i) => posix.join(folder, ...names.slice(i)));
  return rests.filter((path) => mayBeUnder(path, pattern)).slice(0, 1);
}

/** Undefined: the folder cannot be read here, and a program may reach what is in it. */
function entriesOf(folder: string): Promise<readonly Dirent[] | undefined> {
  return readdir(folder, { withFileTypes: true }).catch((error) =>
    isMissing(error) ? [] : undefined,
  );
}

export function isMissing({ code }: { readonly code?: string }): boolean {
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** Whether a use of a folder leaves a path below it out. */
export function isLeftOut(
  path: string,
  folder: string,
  { except, include }: Names,
  isFolder: boolean,
): boolean {
  const names = path.slice(folder === '/' ? 0 : folder.length);
  const isKnown = include.every((each) => !UNKNOWN.test(each));
  if (!isFolder && isKnown && include.length > 0 && !include.some((one) => hasEnd(names, one)))
    return true;
  return except.some((each) => {
    if (each.startsWith('/')) return isUnder(path, each.replace(/\/$/, ''));
    if (UNKNOWN.test(each)) return false;
    if (!each.endsWith('/')) return !isFolder && hasEnd(names, each);
    const folders = isFolder ? names : posix.dirname(names);
    return folders !== '/' && isUnder(folders, anywhere(each.slice(0, -1)));
  });
}

/** Signs of other grammars than that of rules. What they mean could be less, or more. */
const UNKNOWN = /[?[\]{}!\\]/;

/** Whether exactly the last name of a path meets, and no folder on the way. */
function hasEnd(path: string, name: string): boolean {
  const pattern = anywhere(name);
  return isUnder(path, pattern) && !isUnder(posix.dirname(path), pattern);
}

function anywhere(name: string): string {
  return `**/${name}`;
}
