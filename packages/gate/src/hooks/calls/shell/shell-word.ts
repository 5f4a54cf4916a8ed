import type { CommandExpansionPart, DoubleQuotedChild, Word, WordPart } from 'unbash';
import type { Folders } from './folders.ts';
import { namesFor } from './globs.ts';
import type { PartList } from './part-list.ts';

/** A word of a command, as the shell would give it to a program. */
export interface ShellWord {
  /** The word as written. */
  readonly text: string;
  /** Its value after quote removal, or null if only the shell knows it. */
  readonly value: string | null;
  /** Of a word without a value: the folders that it certainly begins with. Otherwise empty. */
  readonly prefix: string;
  /** Of a word without a value: all that it can be, if that is known. None of it is an option. */
  readonly oneOf?: readonly string[];
  /** It stands for files below those. If there are any: only files with these patterns of names. */
  readonly found?: readonly string[];
}

/** The values that are known where a word stands: of `$HOME`, and of the variables of loops. */
interface Values {
  readonly home: string | undefined;
  readonly variables: ReadonlyMap<string, readonly string[]>;
}

/** The same with the value of `$PWD`. */
interface Known extends Values {
  readonly folder: string | undefined;
}

/** A piece of a word. `bare` has a NUL for each quoted character. Without values it is dynamic. */
interface Piece {
  readonly values: readonly string[] | undefined;
  readonly bare: string;
}

const QUOTED = '\0';
const DYNAMIC: Piece = { values: undefined, bare: QUOTED };
/** How many values a word with variables of loops may have. */
const VALUES_MAX = 128;

export function shellWord(word: Word, reading: Values, at: Folders): ShellWord {
  return wordOf(word.text, read(word, reading, at));
}

/** The words that a program gets for one word: a pattern of names stands for those that fit now. */
export function shellWords(
  word: Word,
  reading: Values & { readonly parts: PartList },
  at: Folders,
): readonly ShellWord[] {
  const pieces = read(word, reading, at);
  const [folder, ...others] = at.known;
  if (!isGlob(pieces) || !at.sure || folder === undefined || others.length > 0)
    return [wordOf(word.text, pieces)];
  const pattern = pieces.map(patternOf).join('');
  const names = namesFor(pattern, folder);
  if (names === undefined) return [wordOf(word.text, pieces)];
  if (/^[*?[]/.test(pattern)) reading.parts.beginsOpen(word.text);
  return names.length === 0
    ? [{ ...plainWord(valuesOf(pieces)?.[0] ?? ''), text: word.text }]
    : names.map(plainWord);
}

/** Every value that a word can have. Undefined if only the shell knows. */
export function wordValues({ value, oneOf }: ShellWord): readonly string[] | undefined {
  return value === null ? oneOf : [value];
}

function read(word: Word, { home, variables }: Values, at: Folders): readonly Piece[] {
  const folder = at.sure && at.known.length === 1 ? at.known[0] : undefined;
  return withHome(piecesOf(word, { home, variables, folder }), home);
}

function wordOf(text: string, pieces: readonly Piece[]): ShellWord {
  const values = isExpanded(bareOf(pieces)) ? undefined : valuesOf(pieces);
  const [value] = values ?? [];
  if (values?.length === 1 && value !== undefined) return { text, value, prefix: '' };
  const isKnown = values?.every((each) => /^[\w./=]/.test(each)) === true;
  return { text, value: null, prefix: prefixOf(pieces), ...(isKnown && { oneOf: values }) };
}

function valuesOf(pieces: readonly Piece[]): readonly string[] | undefined {
  return pieces.reduce<readonly string[] | undefined>(
    (found, { values }) => {
      const all = found?.flatMap((start) => values?.map((each) => start + each) ?? []) ?? [];
      return values === undefined || all.length === 0 || all.length > VALUES_MAX ? undefined : all;
    },
    [''],
  );
}

function bareOf(pieces: readonly Piece[]): string {
  return pieces.map(({ bare }) => bare).join('');
}

/** A word that no shell expands any more. */
export function plainWord(value: string): ShellWord {
  return { text: value, value, prefix: '' };
}

function piecesOf(word: Word, known: Known): readonly Piece[] {
  if (word.parts === undefined) return [barePiece(word.text)];
  // A part that the parser did not list would be lost.
  if (word.parts.map((part) => part.text).join('') !== word.text) return [DYNAMIC];
  return word.parts.map((part) => pieceOf(part, known));
}

function pieceOf(part: WordPart, known: Known): Piece {
  if (part.type === 'Literal' || part.type === 'Glob') return barePiece(part.text);
  if (part.type === 'SingleQuoted') return quotedPiece(part.text.slice(1, -1));
  if (part.type === 'AnsiCQuoted')
    return isPlainAnsi(part.text, part.value) ? quotedPiece(part.value) : DYNAMIC;
  if (part.type === 'DoubleQuoted') return doubleQuoted(part.parts, part.text, known);
  return variablePiece(part, known, false);
}

function doubleQuoted(children: readonly DoubleQuotedChild[], text: string, known: Known): Piece {
  if (`"${children.map((child) => child.text).join('')}"` !== text) return DYNAMIC;
  const pieces = children.map((child) =>
    child.type === 'Literal' ? quotedLiteral(child.text) : variablePiece(child, known, true),
  );
  return { values: valuesOf(pieces), bare: QUOTED };
}

function quotedLiteral(text: string): Piece {
  const value = text.replace(/\\([$`"\\\n])/g, (_, char: string) => (char === '\n' ? '' : char));
  // A dollar that starts an expansion, or a backtick, is not literal text.
  return /(?<!\\)(?:\\\\)*(?:`|\$(?=[A-Za-z0-9_{([@*#?$!-]))/.test(text)
    ? DYNAMIC
    : quotedPiece(value);
}

/** The text of `$(cat <<'END' …)`: no shell expands anything in it. */
function staticText({ script }: CommandExpansionPart): string | undefined {
  const [only, ...others] = script?.commands ?? [];
  if (only === undefined || others.length > 0 || only.command.type !== 'Command') return undefined;
  const { name, prefix, suffix, redirects } = only.command;
  const [here] = redirects;
  if (name?.text !== 'cat' || prefix.length + suffix.length !== 1 || redirects.length !== 1)
    return undefined;
  if (here?.type !== 'HereDoc' || here.operator !== '<<' || here.delimiter?.quoted !== true)
    return undefined;
  return here.descriptor === undefined && only.background !== true
    ? here.body.text.replace(/\n+$/, '')
    : undefined;
}

/** Without quotes the shell would split a value with spaces, and expand one with patterns. */
function variablePiece(part: WordPart, { home, folder, variables }: Known, quoted: boolean): Piece {
  if (part.type === 'CommandExpansion') {
    const text = quoted ? staticText(part) : undefined;
    return text === undefined ? DYNAMIC : quotedPiece(text);
  }
  const isPlain =
    part.type === 'SimpleExpansion' ||
    (part.type === 'ParameterExpansion' &&
      /^\$\{[A-Za-z_]\w*\}$/.test(part.text) &&
      part.operation === undefined);
  if (!isPlain) return DYNAMIC;
  const name = part.text.replace(/[${}]/g, '');
  const own = name === 'HOME' ? home : name === 'PWD' ? folder : undefined;
  const values = own === undefined ? variables.get(name) : [own];
  const isSafe = quoted || values?.every((each) => /^[\w/.,@%+-]+$/.test(each)) === true;
  return isSafe ? { values, bare: QUOTED } : DYNAMIC;
}

function quotedPiece(value: string): Piece {
  // An empty quotation counts too: `""~` is not a home folder.
  return { values: [value], bare: QUOTED.repeat(value.length + 1) };
}

function barePiece(text: string): Piece {
  let [value, bare] = ['', ''];
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i);
    if (char !== '\\' || i === text.length - 1) {
      value += char;
      bare += char;
      continue;
    }
    const next = text.charAt(++i);
    if (next === '\n') continue;
    value += next;
    bare += QUOTED;
  }
  return { values: [value], bare };
}

/** Escapes whose meaning differs between shells and encodings are dynamic. */
function isPlainAnsi(text: string, value: string): boolean {
  return !/\\(?:[0cuU]|x\{|x0{0,2}(?![\da-f]))/i.test(text) && /^[\x20-\x7e\n\t]*$/.test(value);
}

/** Whether the shell would still expand the word: globs, braces, tildes. */
function isExpanded(bare: string): boolean {
  if (/[*?`()<>|&;]|\[[\s\S]*\]|\{[\s\S]*(?:,|\.\.)[\s\S]*\}|\$(?!$)/.test(bare)) return true;
  // `=name` is the path of a program in zsh.
  if (/^~|[=:]~|^=(?!=?$)/.test(bare)) return true;
  return /[\s\p{Z}]/u.test(bare);
}

/** Whether all that the shell still does is to look for names that fit. */
function isGlob(pieces: readonly Piece[]): boolean {
  const bare = bareOf(pieces);
  const signs = /[*?]|\[[^[\]]*\]/g;
  if (pieces.some(({ values }) => values?.length !== 1) || bare.search(signs) === -1) return false;
  return !/[~^#]/.test(bare.replace(signs, '')) && !isExpanded(bare.replace(signs, ''));
}

/** The characters of a piece, with a backslash before each one that is quoted. */
function patternOf({ values: [value = ''] = [], bare }: Piece): string {
  return value.replace(/[\s\S]/g, (char, at: number) =>
    bare.charAt(at) !== char && /[*?[\]\\^!-]/.test(char) ? `\\${char}` : char,
  );
}

function withHome(pieces: readonly Piece[], home: string | undefined): readonly Piece[] {
  const [{ values: [value] = [], bare } = DYNAMIC, ...rest] = pieces;
  if (value === undefined || home === undefined || !home.startsWith('/')) return pieces;
  const isHome = bare.startsWith('~/') || (bare === '~' && rest.length === 0);
  if (!isHome) return pieces;
  return [quotedPiece(home), { values: [value.slice(1)], bare: bare.slice(1) }, ...rest];
}

function prefixOf(pieces: readonly Piece[]): string {
  let text = '';
  for (const { values = [], bare } of pieces) {
    const value = values.length === 1 ? values[0] : undefined;
    const end = value === undefined ? 0 : bare.search(/[*?`()<>|&;[{$~]|^=/);
    text += (value ?? '').slice(0, end === -1 ? undefined : end);
    if (end !== -1) break;
  }
  const slash = text.lastIndexOf('/');
  return slash === 0 ? '/' : text.slice(0, Math.max(slash, 0));
}
