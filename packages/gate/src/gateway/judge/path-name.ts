import { MAX_NAME_LENGTH, readScope } from 'assize/internal/authority';
import { isAssizeError } from 'assize/internal/base';

/** A value of a call in its one normal form, or the reason why it has none. */
export type Found<T> = { readonly value: T } | { readonly problem: string };

/**
 * An absolute path in normal form, by the grammar of scopes: `..`, `.`, `//`, a backslash, a star
 * and an escaped separator are refused, because two readers could resolve them differently. `root`:
 * the folder of relative paths. Without `root` a relative path is refused.
 */
export function readPath(given: unknown, root?: string): Found<string> {
  if (typeof given !== 'string') return { problem: 'is not a text' };
  if (given.length > MAX_NAME_LENGTH)
    return { problem: `is longer than ${MAX_NAME_LENGTH} characters` };
  const text =
    given.startsWith('/') || root === undefined ? given : `${root === '/' ? '' : root}/${given}`;
  if (!text.startsWith('/')) return { problem: 'is not an absolute path' };
  if (text === '/') return { value: '/' };
  try {
    const name = readScope(`path:${text}`);
    if (!name.concrete) return { problem: 'has a star' };
    if (ENDING.test(text)) return { problem: 'has a name that ends with a dot or a space' };
    return { value: name.text.slice('path:'.length) };
  } catch (error) {
    if (isAssizeError(error))
      return { problem: String(error.evidence['problem'] ?? error.message) };
    throw error;
  }
}

/** Some systems drop a dot or a space at the end of a name. */
const ENDING = /[. ](?:\/|$)/;

/** In the path of a rule: the folder of the project that a call is made in. */
export const PROJECT = '${project}';

/**
 * Reads the path of a rule: a path in normal form, or one with stars. `*` stands for any text in
 * one name, and `**` as a name for any folders. It begins with `/`, `${project}` or two stars.
 */
export function readPattern(given: string): Found<string> {
  const start = given.startsWith(PROJECT) ? PROJECT : '';
  const names = `${start === '' && given.startsWith('**/') ? '/' : ''}${given.slice(start.length)}`;
  if (start !== '' && names === '') return { value: given };
  if (names.split('/').some((name) => name.includes('**') && name !== '**'))
    return { problem: 'has two stars beside other characters in a name' };
  const read = readPath(names.replaceAll('**', 'x').replaceAll('*', 'x'));
  if ('problem' in read) return read;
  return { value: given.includes('*') ? given.normalize('NFC') : start + read.value };
}

/** The path of a rule for a call. Undefined: it needs a project, and the call has none. */
export function patternFor(pattern: string, project: string | undefined): string | undefined {
  if (!pattern.startsWith(PROJECT)) return pattern;
  if (project === undefined) return undefined;
  return `${project === '/' ? '' : project}${pattern.slice(PROJECT.length)}` || '/';
}

/**
 * Whether a path is what a pattern names, or below it. Both are in normal form. `/fsx` is not below
 * `/fs`.
 */
export function isUnder(path: string, pattern: string): boolean {
  if (hasStar(pattern)) return meets(path, pattern);
  return path === pattern || path.startsWith(pattern === '/' ? '/' : `${pattern}/`);
}

/**
 * The same for rules that refuse or ask: letters in another case and compatible characters count as
 * equal, because some file systems take them as equal.
 */
export function mayBeUnder(path: string, pattern: string): boolean {
  return isUnder(path, pattern) || isUnder(fold(path), fold(pattern));
}

export function hasStar(pattern: string): boolean {
  return pattern.includes('*');
}

/** The folder of a pattern in which everything is that it names: that before its first star. */
export function folderOf(pattern: string): string {
  return hasStar(pattern) ? pattern.replace(/(?:^|\/)[^/*]*\*.*$/s, '') || '/' : pattern;
}

/** Whether the path, or a folder above it, has the names of the pattern. */
function meets(path: string, pattern: string): boolean {
  const names = namesOf(pattern);
  // Below `x/**` is at or below `x/*`.
  if (names.at(-1) === '**') names[names.length - 1] = '*';
  const isName = (name: string, wanted: string): boolean =>
    wanted === '*' || fits([...name], [...wanted], '*', (a, b) => a === b);
  return fits(namesOf(path), [...names, '**'], '**', isName);
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '');
}

/** A star takes as few items as it can, so each item is tried once for each star. */
function fits(
  items: readonly string[],
  wanted: readonly string[],
  star: string,
  isOne: (item: string, one: string) => boolean,
): boolean {
  let [at, next] = [0, 0];
  let [starAt, starNext] = [0, -1];
  while (at < items.length) {
    if (wanted[next] === star) [starAt, starNext] = [at, next++];
    else if (next < wanted.length && isOne(items[at] as string, wanted[next] as string)) {
      at++;
      next++;
    } else if (starNext === -1) return false;
    else [at, next] = [++starAt, starNext + 1];
  }
  return wanted.slice(next).every((each) => each === star);
}

function fold(path: string): string {
  return path.normalize('NFKC').toUpperCase();
}
