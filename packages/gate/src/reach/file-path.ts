import { existsSync, readFileSync } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { posix } from 'node:path';
import { arg, checkArgument } from 'assize/internal/base';

/** A path of a file tool. */
export interface FilePath {
  /** Absolute, in lexical normal form: `..` takes back the name before it. */
  readonly path: string;
  /** The file that the path leads to, if symbolic links on the way lead elsewhere. */
  readonly resolved?: string;
}

const ABSOLUTE = arg.of(
  'an absolute path',
  (value) => typeof value === 'string' && value.startsWith('/'),
);

/** As on Linux. A path with more links opens no file. */
const LINKS_MAX = 40;

/**
 * The paths that a file tool can mean by a name, with those that symbolic links lead to. Some tools
 * take `~`, `~person` and `$HOME` at its start for a home folder, others for a name.
 */
export async function namedPaths(given: string, cwd: string): Promise<readonly string[]> {
  const [, start = '', person] = /^(~([^/]*)|\$HOME|\$\{HOME\})(?=\/|$)/.exec(given) ?? [];
  const home = start === '' ? undefined : person ? homeOf(person) : homedir();
  const names = [given, ...(home === undefined ? [] : [home + given.slice(start.length)])];
  const found = await Promise.all(names.map((name) => canonicalPath(name, cwd)));
  return [...new Set(found.flatMap(({ path, resolved = path }) => [path, resolved]))];
}

/** The home folder of a person of this machine. */
function homeOf(person: string): string | undefined {
  const lines = existsSync(PERSONS) ? readFileSync(PERSONS, 'utf8').split('\n') : [];
  return lines.map((line) => line.split(':')).find(([name]) => name === person)?.[5];
}

const PERSONS = '/etc/passwd';

/**
 * The canonical path of a name that a file tool gets. It expands no `~`. A path may name a
 * file that does not exist: then its existing folders are resolved. A link without a target leads
 * to the file that a writing tool would make.
 *
 * @throws ArgumentError `bad_argument` if `cwd` is not an absolute path
 */
export async function canonicalPath(given: string, cwd: string): Promise<FilePath> {
  checkArgument(arg.text, given, 'given');
  checkArgument(ABSOLUTE, cwd, 'cwd');
  const path = posix.resolve(cwd, given).replace(/^\/+/, '/');
  const resolved = await followed(path);
  return resolved === undefined || resolved === path ? { path } : { path, resolved };
}

async function followed(path: string): Promise<string | undefined> {
  const left = path.split('/');
  let [at, links] = ['/', 0];
  while (left.length > 0) {
    const name = left.shift() as string;
    if (name === '' || name === '.') continue;
    // The path so far has no link, so its parent is the folder above it.
    const next = posix.join(at, name);
    const target = name === '..' ? undefined : await linkAt(next);
    if (target === undefined) {
      at = next;
      continue;
    }
    if (++links > LINKS_MAX) return undefined;
    left.unshift(...target.split('/'));
    if (target.startsWith('/')) at = '/';
  }
  return at;
}

/** Links there lead each program to files of its own. The variables of a program are a file. */
const OF_PROCESS =
  /^\/(?:proc\/(?:self|thread-self|\d+)\/(?!(?:task\/\d+\/)?environ$)|dev\/(?:fd(?:\/|$)|std(?:in|out|err)$))/;

/** Whether only the program that opens a path knows where it leads. */
export function isOfProcess(path: unknown): boolean {
  return typeof path === 'string' && OF_PROCESS.test(path);
}

async function linkAt(path: string): Promise<string | undefined> {
  if (path.startsWith('/proc/') || isOfProcess(path)) return undefined;
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined;
  } catch {
    // It is missing or cannot be read, and the tool that opens it reports the error.
    return undefined;
  }
}
