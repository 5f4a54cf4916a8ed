/**
 * The one grammar of actions and scopes (docs/decisions/011-writs-and-policies.md). A text is split
 * at `:`. A segment that starts with `/` is a path and is split at `/` again. So `fs:/repo/src` has
 * the segments `fs`, `/repo`, `/src`, and `/fsx` is not under `/fs`. In a pattern, `*` stands for
 * exactly one whole segment of its kind (`:*` between colons, `/*` in a path). `**`, last only,
 * stands for one or more: `/**` for more of the path, `:**` for any continuation.
 *
 * One pass decides whether a pattern contains or overlaps another. There are no regular expressions
 * and no stars inside a segment. Only Unicode form (NFC) and, in scopes, the case of the scheme are
 * repaired. A text that could name one thing in two ways (`..`, `.`, `//`, `\`, escaped separators)
 * is refused.
 */
import { AuthorityError } from './errors.ts';

/** Longest accepted text, in UTF-16 units. */
export const MAX_NAME_LENGTH = 1024;

/** A parsed text of the grammar. Each token starts with its kind: `:fs`, `/repo`, `:*`, `/*`. */
export interface Name {
  /** The text in normal form. */
  readonly text: string;
  readonly tokens: readonly string[];
  /** The `**` at the end, with its kind. Empty if the text has none. */
  readonly rest: '' | ':**' | '/**';
  /** True if the text has neither `*` nor `**`. */
  readonly concrete: boolean;
}

/** The reason why a text does not match the grammar. */
export interface BadName {
  readonly problem: string;
}

/** Scopes fold the case of their scheme. Actions stay unchanged. */
export type NameSort = 'action' | 'scope';

/**
 * Whether `wider` matches every name that `narrower` matches. Sound and complete for two patterns.
 * A list of patterns contains a pattern if one of its items does. (A union of several items is not
 * searched: it could only allow more.) Scopes must be in normal form.
 *
 * @throws AuthorityError `bad_argument`
 */
export function contains(wider: string, narrower: string): boolean {
  return nameContains(nameOf('action', wider), nameOf('action', narrower));
}

/**
 * Whether `pattern` matches `name`. The name must have no stars. Scopes must be in normal form.
 *
 * @throws AuthorityError `bad_argument`
 */
export function covers(pattern: string, name: string): boolean {
  const read = nameOf('action', name);
  if (!read.concrete) throw badResource(name, 'has a star where one exact name is needed');
  return nameContains(nameOf('action', pattern), read);
}

/**
 * Whether both patterns match some name. Scopes must be in normal form.
 *
 * @throws AuthorityError `bad_argument`
 */
export function overlaps(left: string, right: string): boolean {
  return nameOverlaps(nameOf('action', left), nameOf('action', right));
}

/**
 * A scope or pattern of scopes in normal form: NFC, scheme in lower case.
 * @throws AuthorityError `bad_argument`
 */
export function normalizeScope(text: string): string {
  return nameOf('scope', text).text;
}

/**
 * An action name or pattern in normal form: NFC.
 * @throws AuthorityError `bad_argument`
 */
export function normalizeAction(text: string): string {
  return nameOf('action', text).text;
}

/**
 * Encodes any text as one segment, so data cannot add segments or stars:
 * `role:${segment(name)}:${segment(patient)}`. Characters with a meaning here become `~` and two
 * hex digits. The empty text becomes `~`. Different texts stay different, except Unicode
 * equivalents (NFC).
 */
export function segment(text: string): string {
  if (text === '') return '~';
  if (text === '.' || text === '..') return text.replaceAll('.', '~2e');
  // Most texts need no escape, and the search costs a third.
  if (text.search(ESCAPED) === -1) return text;
  return text.replace(ESCAPED, (char) => `~${char.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/**
 * A scope or pattern of scopes, split into its segments.
 *
 * @throws AuthorityError `bad_argument`
 */
export function readScope(text: string): Name {
  return nameOf('scope', text);
}

/** Same as `readName`, but an invalid text throws `bad_argument`. */
export function nameOf(sort: NameSort, text: string): Name {
  const read = readName(sort, text);
  if ('problem' in read) throw badResource(text, read.problem);
  return read;
}

const cacheLimit = 4096;
const caches: Record<NameSort, Map<string, Name | BadName>> = {
  action: new Map(),
  scope: new Map(),
};

/**
 * Parses a text. Never throws. Results are in a bounded cache, because the same few names occur
 * again and again. They are frozen, because callers receive them with the claims of a transaction.
 */
export function readName(sort: NameSort, text: string): Name | BadName {
  const cache = caches[sort];
  const known = cache.get(text);
  if (known !== undefined) return known;
  const read = Object.freeze(parse(sort, text));
  if ('tokens' in read) Object.freeze(read.tokens);
  // A text that is too long is not cached: the cache must stay small for any text that a model
  // produces.
  if (typeof text === 'string' && text.length <= MAX_NAME_LENGTH) {
    if (cache.size >= cacheLimit) cache.clear();
    cache.set(text, read);
  }
  return read;
}

/** Containment of parsed names. See `contains`. */
export function nameContains(wider: Name, narrower: Name): boolean {
  const { tokens } = wider;
  const given = narrower.tokens;
  if (given.length < tokens.length) return false;
  for (let index = 0; index < tokens.length; index++) {
    if (!tokenContains(tokens[index]!, given[index]!)) return false;
  }
  const next = given[tokens.length] ?? narrower.rest;
  if (wider.rest === '') return next === '';
  return wider.rest === ':**' ? next !== '' : next.startsWith('/');
}

/** Intersection of parsed names. See `overlaps`. */
export function nameOverlaps(left: Name, right: Name): boolean {
  const shared = Math.min(left.tokens.length, right.tokens.length);
  for (let index = 0; index < shared; index++) {
    const a = left.tokens[index]!;
    const b = right.tokens[index]!;
    if (!tokenContains(a, b) && !tokenContains(b, a)) return false;
  }
  const a = left.tokens[shared] ?? left.rest;
  const b = right.tokens[shared] ?? right.rest;
  if (a === '' || b === '') return a === b;
  // Here at least one side is at its `**`. In a path it continues in the path, otherwise with any
  // segment.
  return a === ':**' || b === ':**' || a.charAt(0) === b.charAt(0);
}

function tokenContains(wider: string, narrower: string): boolean {
  if (wider === narrower) return true;
  return (
    wider.length === 2 &&
    wider.charCodeAt(1) === STAR &&
    wider.charCodeAt(0) === narrower.charCodeAt(0)
  );
}

const STAR = 42;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const ESCAPED = /[~:/\\*%\u0000-\u001f\u007f]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/;
const ESCAPED_MEANING = /%(?:2e|2f|5c|25|3a|2a|[01][0-9a-f]|7f)/i;
const PART_STAR = 'has a star that is not a whole segment';
const SCHEME = /^[a-z0-9+._-]+$/;

function parse(sort: NameSort, text: string): Name | BadName {
  if (typeof text !== 'string' || text === '') return { problem: 'is empty' };
  if (text.length <= MAX_NAME_LENGTH && SIMPLE.test(text)) return simple(text);
  if (text.length > MAX_NAME_LENGTH)
    return { problem: `is longer than ${MAX_NAME_LENGTH} characters` };
  if (!text.isWellFormed()) return { problem: 'has a lone surrogate' };
  if (CONTROL.test(text)) return { problem: 'has a control character' };
  if (text.includes('\\')) return { problem: 'has a backslash' };
  if (ESCAPED_MEANING.test(text))
    return { problem: 'escapes a character that has a meaning here (. / \\ : * %)' };
  return tokenize(sort, text.normalize('NFC').split(':'));
}

/**
 * Words with colons between them, the most frequent names: no escape, no case to fold, no refusal.
 */
const SIMPLE = /^[a-z0-9_-]+(?::[A-Za-z0-9_-]+)*$/;

function simple(text: string): Name {
  const tokens = text.split(':');
  for (let i = 0; i < tokens.length; i++) tokens[i] = `:${tokens[i]}`;
  return { text, tokens, rest: '', concrete: true };
}

function tokenize(sort: NameSort, segments: string[]): Name | BadName {
  if (sort === 'scope' && segments.length > 1) {
    const scheme = segments[0]!.toLowerCase();
    if (!scheme.startsWith('/')) {
      if (!scheme.includes('*') && !SCHEME.test(scheme))
        return { problem: 'has a scheme that is not plain ASCII' };
      segments[0] = scheme;
    }
  }
  const tokens: string[] = [];
  for (const [index, part] of segments.entries()) {
    if (!part.startsWith('/')) {
      tokens.push(`:${part}`);
      continue;
    }
    // `/a:/b` would read as `/a/b`: two texts for one thing.
    if (index > 0 && segments[index - 1]!.startsWith('/'))
      return { problem: 'has a path right after a path' };
    for (const step of part.slice(1).split('/')) tokens.push(`/${step}`);
  }
  return tokenProblem(tokens) ?? finish(segments.join(':'), tokens);
}

function tokenProblem(tokens: readonly string[]): BadName | undefined {
  for (const [index, token] of tokens.entries()) {
    const body = token.slice(1);
    if (body === '*') continue;
    if (body === '**') {
      if (index === tokens.length - 1) continue;
      return { problem: 'has ** before its end' };
    }
    if (body.includes('*')) return { problem: PART_STAR };
    for (const part of body.split('/')) {
      if (part === '') return { problem: 'has an empty segment' };
      if (part === '.' || part === '..') return { problem: `has the segment ${part}` };
    }
  }
  return undefined;
}

function finish(text: string, tokens: string[]): Name {
  const last = tokens.at(-1);
  const rest = last === ':**' || last === '/**' ? last : '';
  if (rest !== '') tokens.pop();
  const concrete = rest === '' && !tokens.some((token) => token === ':*' || token === '/*');
  return { text, tokens, rest, concrete };
}

/** Advice on an action such as `bank.*`, whose star is a part of a segment. */
export function actionAdvice(sort: NameSort, text: string, problem: string): string {
  return sort === 'action' && problem === PART_STAR && text.endsWith('.*')
    ? ' Segments are separated by : or /. Name each action, such as bank.payout.'
    : '';
}

function badResource(text: string, problem: string): AuthorityError {
  const shown = quoted(text);
  return new AuthorityError('bad_argument', `${shown} ${problem}.`, {
    evidence: { text: shown, problem },
  });
}

/**
 * A text of any origin, prepared for a recorded message: quoted, well-formed, at most some 80
 * characters.
 */
export function quoted(text: unknown): string {
  if (typeof text !== 'string') return typeof text;
  return text.length <= 80 ? JSON.stringify(text) : `${JSON.stringify(text.slice(0, 80))}…`;
}
