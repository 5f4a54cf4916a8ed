import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { posix } from 'node:path';
import { isPlainText } from '../plain-text.ts';

/** How many names are looked at for a pattern, and how many may fit. */
const LOOKED_MAX = 20_000;
const FOUND_MAX = 128;

const VISIBLE = /^[^.]/;

/**
 * The names that a pattern of a shell stands for in a folder now, as the shell would write them. A
 * backslash quotes the character after it. `**` goes through all folders, as in shells that know
 * it. Undefined: too many, or a pattern that shells read in different ways.
 */
export function namesFor(pattern: string, cwd: string): readonly string[] | undefined {
  let left = LOOKED_MAX;
  const list = (folder: string, fits: RegExp, end: '' | '/'): string[] => {
    const names = left < 0 ? [] : namesIn(posix.resolve(cwd, folder));
    left -= names.length;
    const found = names.filter((name) => fits.test(name)).map((name) => folder + name);
    return end === '' ? found : found.map((path) => path + end).filter(isFolder);
  };
  const isFolder = (path: string): boolean => existsSync(`${posix.resolve(cwd, path)}/.`);
  const isLink = (path: string): boolean => lstatSync(posix.resolve(cwd, path)).isSymbolicLink();
  const deeper = (start: string): string[] => {
    const found = [start];
    for (const at of found)
      found.push(...list(at, VISIBLE, '/').filter((path) => at === start || !isLink(path)));
    return found;
  };
  const [start = ''] = /^[^*?[\\]*\//.exec(pattern) ?? [];
  const segments = pattern.slice(start.length).split('/');
  let found = [start];
  for (const [i, segment] of segments.entries()) {
    const end = i === segments.length - 1 ? '' : '/';
    const fits = segment === '**' ? VISIBLE : matcher(segment);
    if (fits === undefined) return undefined;
    const from = segment === '**' ? found.flatMap(deeper) : found;
    if (segment === '**' && end === '/') found = from;
    else if (segment !== '') found = from.flatMap((each) => list(each, fits, end));
  }
  const names = [...new Set(found)].sort();
  const isKnown = left >= 0 && names.length <= FOUND_MAX && names.every(isPlainText);
  return isKnown ? names : undefined;
}

/** A folder that is missing, or that cannot be read, has no names. */
function namesIn(folder: string): readonly string[] {
  try {
    return ['.', '..', ...readdirSync(folder)];
  } catch {
    return [];
  }
}

/** A segment as an expression. Only a dot of the pattern stands for a dot at the start. */
function matcher(segment: string): RegExp | undefined {
  let source = /^\\?\./.test(segment) ? '' : '(?!\\.)';
  for (let rest = segment; rest !== ''; ) {
    const [token = ''] = /^(?:\\[\s\S]|\*+|\[[!^]?\]?[^\][\\]*\]|[\s\S])/.exec(rest) ?? [];
    rest = rest.slice(token.length);
    if (token.startsWith('*')) source += '.*';
    else if (token === '?') source += '.';
    else if (token.length > 2 && token.startsWith('[')) source += listOf(token);
    else if (token === '[') return undefined;
    else source += token.replace(/^\\(?=.)/s, '').replace(/[$()*+.?[\\\]^{|}]/g, '\\$&');
  }
  try {
    // Whether a range has letters of both cases depends on the language of the machine.
    return new RegExp(`^${source}$`, /\[[^!^].*-/s.test(segment) ? 'isu' : 'su');
  } catch {
    return undefined;
  }
}

function listOf(token: string): string {
  const [, not, inner = ''] = /^\[([!^]?)([\s\S]*)\]$/.exec(token) ?? [];
  return `[${not ? '^' : ''}${inner.replace(/[\\\]^[]/g, '\\$&')}]`;
}
