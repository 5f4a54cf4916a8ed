import { parse } from 'smol-toml';

/** A line of TOML with its meaning: the head of a table, or a key with its value. */
export interface Statement {
  readonly kind: 'table' | 'list' | 'pair';
  /** The names in the head or in the key. */
  readonly path: readonly string[];
  readonly start: number;
  readonly end: number;
  /** Where the value of a pair begins. */
  readonly valueStart: number;
}

/** The statements of a text that is known to be TOML. */
export function statementsOf(text: string): readonly Statement[] {
  const found: Statement[] = [];
  for (let at = nextStatement(text, 0); at < text.length; at = nextStatement(text, at)) {
    const statement = text[at] === '[' ? head(text, at) : pair(text, at);
    found.push(statement);
    at = statement.end;
  }
  return found;
}

/** The comments of a text that is known to be TOML. */
export function commentsOf(text: string): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length; ) {
    if (isQuote(text[at])) at = afterString(text, at);
    else if (text[at] !== '#') at++;
    else {
      const [comment = '#'] = /^#[^\r\n]*/.exec(text.slice(at)) ?? [];
      found.push(comment);
      at += comment.length;
    }
  }
  return found;
}

/** The start of the next statement: blanks and comments have none. */
function nextStatement(text: string, from: number): number {
  const [skipped = ''] = /^(?:\s|#[^\n]*)*/.exec(text.slice(from)) ?? [];
  return from + skipped.length;
}

function head(text: string, start: number): Statement {
  const isList = text.startsWith('[[', start);
  const end = endOf(text, start);
  return { kind: isList ? 'list' : 'table', path: pathOf(text.slice(start, end)), start, end, valueStart: end };
}

function pair(text: string, start: number): Statement {
  let at = start;
  while (at < text.length && text[at] !== '=') at = isQuote(text[at]) ? afterString(text, at) : at + 1;
  const [blanks = ''] = /^[ \t]*/.exec(text.slice(at + 1)) ?? [];
  const valueStart = at + 1 + blanks.length;
  return {
    ...{ kind: 'pair', path: pathOf(`${text.slice(start, at)} = 0`), start, valueStart },
    end: endOf(text, valueStart),
  };
}

/** The end of a value or of a head: before a comment, or the end of its line. */
function endOf(text: string, from: number): number {
  let depth = 0;
  let at = from;
  let end = from;
  while (at < text.length) {
    const one = text[at] as string;
    if (one === '#' && depth === 0) break;
    if (one === '\n' && depth === 0) break;
    if (one === '#') at = Math.max(text.indexOf('\n', at), at + 1);
    else if (isQuote(one)) at = end = afterString(text, at);
    else {
      if ('[{'.includes(one)) depth++;
      if (']}'.includes(one)) depth--;
      at++;
      if (!/\s/.test(one)) end = at;
    }
  }
  return end;
}

function isQuote(one: string | undefined): boolean {
  return one === '"' || one === "'";
}

function afterString(text: string, from: number): number {
  const quote = text[from] as string;
  const isLong = text.startsWith(quote.repeat(3), from);
  const ending = isLong ? quote.repeat(3) : quote;
  let at = from + ending.length;
  while (at < text.length && !text.startsWith(ending, at)) at += quote === '"' && text[at] === '\\' ? 2 : 1;
  at += ending.length;
  // A long text may end in quotes of its own.
  while (isLong && text[at] === quote) at++;
  return at;
}

/** The names in a head or in a key, read by the library. */
function pathOf(text: string): readonly string[] {
  const names: string[] = [];
  let value: unknown = parse(text);
  while (typeof value === 'object' && value !== null) {
    if (Array.isArray(value)) value = value[0];
    const [name] = Object.keys(value as object);
    if (name === undefined) break;
    names.push(name);
    value = (value as Record<string, unknown>)[name];
  }
  return names;
}
