import type { Json } from '#base';
import { CanonError } from './canon-error.ts';
import type { CanonLimits } from './limits.ts';
import { toPointer } from './pointer.ts';

const WHITESPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
/** A run of unescaped characters (RFC 8259 section 7). */
const PLAIN = /[ !#-[\]-\uffff]*/y;
const HEX4 = /[0-9a-fA-F]{4}/y;
const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);

/**
 * Reads one JSON text (RFC 8259) character by character and tracks the current position. This class
 * defines strict parsing. `parseStrict` has a faster way to the same verdict and uses this class
 * for the remaining texts and for the errors.
 */
export class JsonReader {
  readonly #text: string;
  readonly #limits: CanonLimits;
  readonly #path: string[] = [];
  #at = 0;
  #depth = 0;
  #nodes = 0;

  constructor(text: string, limits: CanonLimits) {
    this.#text = text;
    this.#limits = limits;
  }

  /**
   * The value. All members are own data properties, `__proto__` too.
   *
   * @throws CanonError with offset, line and column in the evidence, and the pointer of the value
   * that was being read.
   */
  read(): Json {
    if (this.#text.charCodeAt(0) === 0xfeff) {
      this.#fail('bad_input', 'The text starts with a byte order mark. Save it without one.');
    }
    const value = this.#value();
    if (this.#at < this.#text.length)
      this.#fail('syntax', 'The text continues after the end of the value.');
    return value;
  }

  /** A value with the white space around it. */
  #value(): Json {
    this.#nodes += 1;
    if (this.#nodes > this.#limits.nodesMax) {
      this.#fail(
        'too_complex',
        `The text has more than ${this.#limits.nodesMax} values. Pass less, or raise nodesMax.`,
      );
    }
    this.#skipWhitespace();
    const value = this.#bareValue();
    this.#skipWhitespace();
    return value;
  }

  #bareValue(): Json {
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object();
      case '[':
        return this.#array();
      case '"':
        return this.#string();
      case 't':
        return this.#word('true', true);
      case 'f':
        return this.#word('false', false);
      case 'n':
        return this.#word('null', null);
      default:
        return this.#number();
    }
  }

  #object(): Json {
    this.#enter();
    const object: Record<string, Json> = {};
    if (!this.#take('}')) {
      do this.#member(object);
      while (this.#take(','));
      this.#expect('}', 'a comma or the end of the object');
    }
    this.#depth -= 1;
    return object;
  }

  #member(object: Record<string, Json>): void {
    this.#skipWhitespace();
    const start = this.#at;
    if (this.#text[start] !== '"') this.#fail('syntax', 'Expected a name in double quotes.');
    const name = this.#string();
    this.#path.push(name);
    if (Object.hasOwn(object, name)) {
      this.#at = start;
      this.#fail(
        'bad_input',
        'The object has this name twice, and readers would use different values. Remove one.',
      );
    }
    this.#skipWhitespace();
    this.#expect(':', 'a colon after the name');
    define(object, name, this.#value());
    this.#path.pop();
  }

  #array(): Json {
    this.#enter();
    const array: Json[] = [];
    if (!this.#take(']')) {
      do {
        this.#path.push(String(array.length));
        array.push(this.#value());
        this.#path.pop();
      } while (this.#take(','));
      this.#expect(']', 'a comma or the end of the array');
    }
    this.#depth -= 1;
    return array;
  }

  /** Skips the opening bracket. */
  #enter(): void {
    if (this.#depth >= this.#limits.depthMax) {
      this.#fail(
        'too_complex',
        `The text is nested more than ${this.#limits.depthMax} deep. Flatten it, or raise depthMax.`,
      );
    }
    this.#depth += 1;
    this.#at += 1;
    this.#skipWhitespace();
  }

  #string(): string {
    const start = this.#at;
    this.#at += 1;
    let value = this.#plain(start);
    while (!this.#take('"')) {
      if (this.#text[this.#at] !== '\\') {
        this.#fail(
          'syntax',
          this.#at < this.#text.length
            ? 'Escape this control character.'
            : 'The string is not closed.',
        );
      }
      value += this.#escape() + this.#plain(start);
    }
    return this.#wellFormed(value, start);
  }

  /** Unescaped characters. Alone they are well-formed: no escape completes half a pair. */
  #plain(start: number): string {
    return this.#wellFormed(this.#match(PLAIN) ?? '', start);
  }

  #wellFormed(text: string, start: number): string {
    if (text.isWellFormed()) return text;
    this.#at = start;
    this.#fail(
      'bad_input',
      'The string has a lone surrogate, which has no UTF-8 bytes. Repair the string first.',
    );
  }

  #escape(): string {
    const letter = this.#text[this.#at + 1];
    if (letter === 'u') {
      this.#at += 2;
      const hex = this.#match(HEX4);
      if (hex === undefined) this.#fail('syntax', 'Expected four hex digits after \\u.');
      return String.fromCharCode(Number.parseInt(hex, 16));
    }
    const character = letter === undefined ? undefined : SHORT_ESCAPES.get(letter);
    if (character === undefined) this.#fail('syntax', 'The escape is not valid.');
    this.#at += 2;
    return character;
  }

  #number(): number {
    const start = this.#at;
    const digits = this.#match(NUMBER);
    if (digits === undefined) this.#fail('syntax', 'Expected a value.');
    const value = Number(digits);
    if (
      Number.isFinite(value) &&
      (this.#limits.integers === 'any' || Math.abs(value) <= Number.MAX_SAFE_INTEGER)
    ) {
      return value === 0 ? 0 : value;
    }
    this.#at = start;
    if (!Number.isFinite(value)) this.#fail('bad_input', 'The number is larger than any double.');
    this.#fail(
      'bad_input',
      'The integer is beyond 2^53-1 and would be rounded. Write a decimal string.',
    );
  }

  #word<Value extends Json>(word: string, value: Value): Value {
    if (!this.#text.startsWith(word, this.#at)) this.#fail('syntax', 'Expected a value.');
    this.#at += word.length;
    return value;
  }

  #skipWhitespace(): void {
    this.#match(WHITESPACE);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #expect(character: string, what: string): void {
    if (!this.#take(character)) this.#fail('syntax', `Expected ${what}.`);
  }

  #fail(code: 'syntax' | 'too_complex' | 'bad_input', message: string): never {
    const pointer = toPointer(this.#path.map((segment) => segment.toWellFormed()));
    throw new CanonError(code, pointer, message, { evidence: position(this.#text, this.#at) });
  }
}

/** Assigning to `__proto__` would set the prototype instead of a member. */
function define(object: Record<string, Json>, name: string, value: Json): void {
  if (name !== '__proto__') object[name] = value;
  else
    Object.defineProperty(object, name, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
}

/**
 * The position in the text, counted as editors do: lines and columns from 1, the offset in UTF-16
 * units from 0.
 */
function position(text: string, offset: number): { offset: number; line: number; column: number } {
  const lines = text.slice(0, offset).split('\n');
  return { offset, line: lines.length, column: lines[lines.length - 1]!.length + 1 };
}
