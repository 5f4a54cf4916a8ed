import type { SqlDatabase } from './port.ts';

/** How a database tells where strings, comments and statements end. */
interface Reading {
  /** The quotes of strings and names. A doubled quote inside stands for itself. */
  readonly quotes: string;
  /** In which of these a backslash takes away what the next character means. */
  readonly escapedIn: string;
  /** A comment may stand in a comment. */
  readonly nests: boolean;
  /** The start of a comment of one line, and its end. */
  readonly line: RegExp;
  readonly lineEnd: RegExp;
  /** The space between words. Any other character that is not a sign belongs to a word. */
  readonly space: RegExp;
  /** `E'…'` has backslashes, and `$tag$ … $tag$` is a string. */
  readonly isPostgres: boolean;
  /** A placeholder for a value, if its name may contain signs. */
  readonly variable?: RegExp;
  /** A comment of this form is run. */
  readonly runs?: RegExp;
}

/** For databases in which a character that only looks like a space does no harm. */
const ANY_SPACE = /[\s\p{Cc}\ufeff]+/uy;

/**
 * The lexical structure of PostgreSQL (manual, section 4.1), with `standard_conforming_strings`.
 */
const POSTGRES: Reading = {
  quotes: `'"`,
  escapedIn: '',
  nests: true,
  line: /--/y,
  lineEnd: /[\n\r]/g,
  // Any other space-like character belongs to a word, and so does the text after it: `$$` starts no
  // string there.
  space: /[ \t\n\r\f\v]+/y,
  isPostgres: true,
};

/** Without `standard_conforming_strings`: any statement before may have turned it off. */
const POSTGRES_OF_OLD: Reading = { ...POSTGRES, escapedIn: `'` };

/** SQLite takes the quotes of others too (“SQLite keywords”), and a bracket for a name. */
const SQLITE: Reading = {
  quotes: `'"\`[`,
  escapedIn: '',
  nests: false,
  line: /--/y,
  lineEnd: /\n/g,
  space: ANY_SPACE,
  isPostgres: false,
  // Same as variables of Tcl: the text in the parentheses belongs to the name, for any characters.
  variable: /[$@:#](?:[\w$\u0080-\uffff]|::)+\([^\s)]*\)/y,
};

/** MySQL (manual, sections 11.1.1 and 11.7) with `ANSI_QUOTES`, and MariaDB. */
const MYSQL: Reading = {
  quotes: `'"\``,
  escapedIn: `'`,
  nests: false,
  line: /#|--(?=[\s\p{Cc}]|$)/uy,
  lineEnd: /\n/g,
  space: ANY_SPACE,
  isPostgres: false,
  runs: /\/\*M?![0-9]*/y,
};

/** A word, or a number; PostgreSQL ends a number at the first letter. */
const WORD = /[0-9][0-9_]*|[A-Za-z_$\u0080-\uffff][\w$\u0080-\uffff]*/y;
const DOLLAR = /\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/y;
/** Between two parts of one string (PostgreSQL, section 4.1.2.1). */
const CONTINUED = /(?:[ \t\f\v]|--[^\n\r]*)*[\n\r](?:[ \t\n\r\f\v]|--[^\n\r]*[\n\r])*'/y;

/** As much of a statement as says what it is. */
const WORDS_MAX = 3;

/**
 * The statements of a text, as its reader finds them: the first words of each, in lower case,
 * without pure comments. If the placeholders do not identify the database, returns all possible
 * readings. One database may run the comment of another.
 */
export function readingsOf(
  text: string,
  placeholders: SqlDatabase['placeholders'],
): readonly (readonly string[])[] {
  const postgres = [POSTGRES, POSTGRES_OF_OLD];
  const readings = placeholders === '$1' ? postgres : [SQLITE, MYSQL, ...postgres];
  return readings.map((reading) => new Reader(text, reading).statements());
}

class Reader {
  readonly #text: string;
  readonly #reading: Reading;
  #at = 0;

  constructor(text: string, reading: Reading) {
    this.#text = text;
    this.#reading = reading;
  }

  statements(): string[] {
    const found: string[] = [];
    let words: string[] = [];
    let isEmpty = true;
    const end = (): void => {
      if (!isEmpty) found.push(words.join(' '));
      words = [];
      isEmpty = true;
    };
    while (this.#at < this.#text.length) {
      if (this.#skipsNothing()) continue;
      if (this.#text[this.#at] === ';') {
        this.#at++;
        end();
        continue;
      }
      isEmpty = false;
      const word = this.#part();
      if (word !== undefined && words.length < WORDS_MAX) words.push(word.toLowerCase());
    }
    end();
    return found;
  }

  /** Whether there was a space or a comment. */
  #skipsNothing(): boolean {
    const { line, lineEnd, runs, space } = this.#reading;
    if (this.#eats(space) !== undefined) return true;
    if (this.#eats(line) !== undefined) {
      this.#at = this.#after(lineEnd);
      return true;
    }
    if (runs !== undefined && this.#eats(runs) !== undefined) return true;
    if (!this.#text.startsWith('/*', this.#at)) return false;
    this.#at = this.#afterComment();
    return true;
  }

  #afterComment(): number {
    const mark = /\/\*|\*\//g;
    mark.lastIndex = this.#at + 2;
    for (let depth = 1; depth > 0; ) {
      const found = mark.exec(this.#text);
      if (found === null) return this.#text.length;
      if (found[0] === '*/') depth--;
      else if (this.#reading.nests) depth++;
      // `/*/` ends no comment that it begins; one that it doesn't begin, it ends.
      else mark.lastIndex--;
    }
    return mark.lastIndex;
  }

  /** Reads a string, a name, a word or a sign. Returns a word, and undefined for the rest. */
  #part(): string | undefined {
    const { quotes, escapedIn, isPostgres, variable } = this.#reading;
    if (variable !== undefined && this.#eats(variable) !== undefined) return undefined;
    const sign = this.#text[this.#at]!;
    if (quotes.includes(sign)) {
      this.#at = this.#afterString(sign === '[' ? ']' : sign, escapedIn.includes(sign));
      return undefined;
    }
    if (isPostgres) {
      const tag = this.#eats(DOLLAR);
      if (tag !== undefined) {
        const end = this.#text.indexOf(tag, this.#at);
        this.#at = end < 0 ? this.#text.length : end + tag.length;
        return undefined;
      }
    }
    const word = this.#eats(WORD);
    if (word === undefined) this.#at++;
    else if (isPostgres && word.toLowerCase() === 'e' && this.#text[this.#at] === "'") {
      do this.#at = this.#afterString("'", true);
      while (this.#continues());
    }
    return word;
  }

  /** A doubled quote ends a string and begins the next one, with the same result. */
  #afterString(quote: string, isEscaped: boolean): number {
    let at = this.#at + 1;
    while (at < this.#text.length && this.#text[at] !== quote)
      at += isEscaped && this.#text[at] === '\\' ? 2 : 1;
    return Math.min(at + 1, this.#text.length);
  }

  /**
   * Whether a string with backslashes goes on, at a quote: that of it which is doubled, or one on
   * another line.
   */
  #continues(): boolean {
    if (this.#text[this.#at] === "'") return true;
    if (this.#eats(CONTINUED) === undefined) return false;
    this.#at--;
    return true;
  }

  #eats(what: RegExp): string | undefined {
    what.lastIndex = this.#at;
    const found = what.exec(this.#text)?.[0];
    if (found === undefined) return undefined;
    this.#at += found.length;
    return found;
  }

  #after(what: RegExp): number {
    what.lastIndex = this.#at;
    return what.exec(this.#text) === null ? this.#text.length : what.lastIndex;
  }
}
