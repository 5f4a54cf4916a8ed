import { covers, MAX_NAME_LENGTH, readScope } from 'assize/internal/authority';
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

/** Whether a path is the prefix or below it. Both are in normal form. `/fsx` is not below `/fs`. */
export function isUnder(path: string, prefix: string): boolean {
  if (prefix === '/' || path === prefix) return true;
  return path !== '/' && covers(`path:${prefix}/**`, `path:${path}`);
}

/**
 * The same for rules that refuse or ask: letters in another case and compatible characters count as
 * equal, because some file systems take them as equal.
 */
export function mayBeUnder(path: string, prefix: string): boolean {
  if (isUnder(path, prefix)) return true;
  const [folded, wide] = [fold(path), fold(prefix)];
  return folded === wide || folded.startsWith(`${wide === '/' ? '' : wide}/`);
}

function fold(path: string): string {
  return path.normalize('NFKC').toUpperCase();
}
