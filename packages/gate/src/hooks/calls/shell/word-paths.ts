import { judgeablePath } from '../judgeable-path.ts';
import { type Folders, type Places, placesOf } from './folders.ts';
import { type ShellWord, wordValues } from './shell-word.ts';

/**
 * Every path that the words of a program can name: each word, and the pieces of a word where a
 * program could look for a name. Words that are plainly options name none.
 */
export function wordPaths(words: readonly ShellWord[], at: Folders): Places {
  const found = new Set<string>();
  let sure = true;
  for (const name of names(words)) {
    const places = placesOf(at, name);
    sure &&= places.sure;
    for (const path of places.paths) found.add(judgeablePath(path));
  }
  return { paths: [...found], sure };
}

function names(words: readonly ShellWord[]): ReadonlySet<string> {
  const found = new Set<string>();
  let operandsOnly = false;
  for (const word of words)
    for (const text of wordValues(word) ?? [word.prefix]) {
      if (text === '' || text === '-') continue;
      if (text === '--') operandsOnly = true;
      else for (const name of namesIn(text, operandsOnly)) found.add(name);
    }
  return found;
}

function namesIn(word: string, isOperand: boolean): readonly string[] {
  if (isUrl(word)) return fileOfUrl(word);
  const isOption = word.startsWith('-') && !isOperand;
  return [...(isOption ? [] : [word]), ...piecesOf(word, isOption)].filter(
    (name) => name !== '' && !isUrl(name),
  );
}

/** `--opt=value`, `-oVALUE`, `name=value`, `host:path`, `/from:/to`, `@file`, `a,b`. */
function piecesOf(word: string, isOption: boolean): readonly string[] {
  const equals = word.indexOf('=');
  const pieces = word.split(/[=:,@]/).slice(1);
  const found = pieces.filter((piece) => piece.includes('/') || piece.startsWith('.'));
  if (equals !== -1) found.push(word.slice(equals + 1));
  const file = /^@(.+)|=@(.+)/.exec(word);
  if (file !== null) found.push((file[1] ?? file[2]) as string);
  if (isOption && !word.startsWith('--')) found.push(...attachedNames(word));
  const first = word.split(/[=:,]/, 1)[0] as string;
  if (!isOption && first !== word && first.includes('/')) found.push(first);
  return found;
}

/** The names in `-oNAME` and `-xyzNAME`. Without a slash or a dot they are options. */
function attachedNames(word: string): readonly string[] {
  const starts = [2, word.search(/[./]/), word.indexOf('/')];
  return starts
    .filter((start) => start >= 1)
    .map((start) => word.slice(start))
    .filter((name) => /[./]/.test(name));
}

export function isUrl(word: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(word);
}

/** The path of a `file:` URL. Other URLs name no file here. */
function fileOfUrl(word: string): readonly string[] {
  if (!/^file:/i.test(word) || !URL.canParse(word)) return [];
  const { pathname } = new URL(word);
  try {
    return [decodeURIComponent(pathname)];
  } catch {
    // Not an escaped text, so it counts as written.
    return [pathname];
  }
}
