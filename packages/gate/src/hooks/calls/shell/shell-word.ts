import type { CommandExpansionPart, DoubleQuotedChild, Word, WordPart } from 'unbash';
import type { Folders } from './folders.ts';

/** A word of a command, as the shell would give it to a program. */
export interface ShellWord {
  /** The word as written. */
  readonly text: string;
  /** Its value after quote removal, or null if only the shell knows it. */
  readonly value: string | null;
  /** Of a word without a value: the folders that it certainly begins with. Otherwise empty. */
  readonly prefix: string;
}

/** The folders that `~`, `$HOME` and `$PWD` stand for. */
interface Known {
  readonly home: string | undefined;
  readonly folder: string | undefined;
}

/** A piece of a word. `bare` has a NUL for each quoted character. Without a value it is dynamic. */
interface Piece {
  readonly value: string | undefined;
  readonly bare: string;
}

const QUOTED = '\0';
const DYNAMIC: Piece = { value: undefined, bare: QUOTED };

export function shellWord(word: Word, home: string | undefined, at: Folders): ShellWord {
  const known = { home, folder: at.sure && at.known.length === 1 ? at.known[0] : undefined };
  const pieces = withHome(piecesOf(word, known), home);
  const value = pieces.every((piece) => piece.value !== undefined)
    ? pieces.map((piece) => piece.value).join('')
    : null;
  const isLiteral = value !== null && !isExpanded(pieces.map((piece) => piece.bare).join(''));
  return isLiteral
    ? { text: word.text, value, prefix: '' }
    : { text: word.text, value: null, prefix: prefixOf(pieces) };
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
  if (part.type === 'Literal') return barePiece(part.text);
  if (part.type === 'SingleQuoted') return quotedPiece(part.text.slice(1, -1));
  if (part.type === 'AnsiCQuoted')
    return isPlainAnsi(part.text, part.value) ? quotedPiece(part.value) : DYNAMIC;
  if (part.type === 'DoubleQuoted') return doubleQuoted(part.parts, part.text, known);
  return folderPiece(part, known, false);
}

function doubleQuoted(children: readonly DoubleQuotedChild[], text: string, known: Known): Piece {
  if (`"${children.map((child) => child.text).join('')}"` !== text) return DYNAMIC;
  const values = children.map((child) =>
    child.type === 'Literal' ? quotedLiteral(child.text) : folderPiece(child, known, true).value,
  );
  return values.every((value) => value !== undefined) ? quotedPiece(values.join('')) : DYNAMIC;
}

function quotedLiteral(text: string): string | undefined {
  const value = text.replace(/\\([$`"\\\n])/g, (_, char: string) => (char === '\n' ? '' : char));
  // A dollar that starts an expansion, or a backtick, is not literal text.
  return /(?<!\\)(?:\\\\)*(?:`|\$(?=[A-Za-z0-9_{([@*#?$!-]))/.test(text) ? undefined : value;
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

/** `$HOME` and `$PWD`. Without quotes the shell would split a value with spaces. */
function folderPiece(part: WordPart, { home, folder }: Known, quoted: boolean): Piece {
  if (part.type === 'CommandExpansion') {
    const text = quoted ? staticText(part) : undefined;
    return text === undefined ? DYNAMIC : quotedPiece(text);
  }
  const isPlain =
    part.type === 'SimpleExpansion' ||
    (part.type === 'ParameterExpansion' &&
      /^\$\{[A-Z]+\}$/.test(part.text) &&
      part.operation === undefined);
  if (!isPlain) return DYNAMIC;
  const name = part.text.replace(/[${}]/g, '');
  const value = name === 'HOME' ? home : name === 'PWD' ? folder : undefined;
  if (value === undefined || (!quoted && !/^[\w/.,@%+-]+$/.test(value))) return DYNAMIC;
  return quotedPiece(value);
}

function quotedPiece(value: string): Piece {
  // An empty quotation counts too: `""~` is not a home folder.
  return { value, bare: QUOTED.repeat(value.length + 1) };
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
  return { value, bare };
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

function withHome(pieces: readonly Piece[], home: string | undefined): readonly Piece[] {
  const [first, ...rest] = pieces;
  if (first?.value === undefined || home === undefined || !home.startsWith('/')) return pieces;
  const isHome = first.bare.startsWith('~/') || (first.bare === '~' && rest.length === 0);
  if (!isHome) return pieces;
  return [quotedPiece(home), { value: first.value.slice(1), bare: first.bare.slice(1) }, ...rest];
}

function prefixOf(pieces: readonly Piece[]): string {
  let text = '';
  for (const { value, bare } of pieces) {
    const end = value === undefined ? 0 : bare.search(/[*?`()<>|&;[{$~]|^=/);
    text += (value ?? '').slice(0, end === -1 ? undefined : end);
    if (end !== -1) break;
  }
  const slash = text.lastIndexOf('/');
  return slash === 0 ? '/' : text.slice(0, Math.max(slash, 0));
}
