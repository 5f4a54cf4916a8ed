const SIZE_FIRST = 65_536;
/** A buffer that grew beyond this is let go, so that one large value does not hold its memory for ever. */
const SIZE_KEPT_MAX = 4_194_304;
/** Up to here a loop over the units is faster than two calls into the engine. */
const LOOP_MAX = 40;
/** Any character that is longer in UTF-8 than in UTF-16 units, or has to be escaped. */
const NOT_PLAIN = /[^ !#-[\]-~]/;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** True when the string stands in JSON as it is, one byte a character. */
export function isPlain(text: string): boolean {
  return !NOT_PLAIN.test(text);
}

/**
 * A JSON text in the making, as UTF-8 bytes in a buffer that is used again for the next text. Bytes, not strings: a text
 * that is glued from hundreds of strings is a tree, and to flatten it took longer than to hash it.
 */
export class ByteText {
  #bytes: Buffer = Buffer.allocUnsafeSlow(SIZE_FIRST);
  #length = 0;
  #ascii = true;

  /** How many bytes are written. */
  get length(): number {
    return this.#length;
  }

  toString(): string {
    // Latin-1 is the decoder that has nothing to decide; it is right for ASCII only.
    return this.#bytes.toString(this.#ascii ? 'latin1' : 'utf8', 0, this.#length);
  }

  /** Forgets what is written, to begin anew. */
  clear(): void {
    this.#length = 0;
    this.#ascii = true;
    if (this.#bytes.length > SIZE_KEPT_MAX) this.#bytes = Buffer.allocUnsafeSlow(SIZE_FIRST);
  }

  /** One ASCII character. */
  byte(code: number): void {
    this.#reserve(1);
    this.#bytes[this.#length] = code;
    this.#length += 1;
  }

  /** A few bytes of ASCII. */
  append(bytes: Uint8Array): void {
    const { length } = bytes;
    this.#reserve(length);
    const target = this.#bytes;
    const start = this.#length;
    for (let i = 0; i < length; i++) target[start + i] = bytes[i]!;
    this.#length = start + length;
  }

  /** A few characters of ASCII, as they are. */
  ascii(text: string): void {
    const { length } = text;
    this.#reserve(length);
    const target = this.#bytes;
    const start = this.#length;
    for (let i = 0; i < length; i++) target[start + i] = text.charCodeAt(i);
    this.#length = start + length;
  }

  /** A whole number from 0 to 2^31-1, without making a string of it. */
  digits(value: number): void {
    this.#reserve(10);
    let end = this.#length + 1;
    for (let rest = value; rest > 9; rest = (rest / 10) | 0) end += 1;
    const target = this.#bytes;
    let rest = value;
    for (let at = end - 1; at >= this.#length; at--) {
      const tens = (rest / 10) | 0;
      target[at] = 0x30 + rest - tens * 10;
      rest = tens;
    }
    this.#length = end;
  }

  /** A string in quotes, escaped as RFC 8785 section 3.2.2.2 wants it. False, and nothing written, if it is not well-formed. */
  quoted(text: string): boolean {
    const { length } = text;
    if (length > LOOP_MAX) return isPlain(text) ? this.#quotedPlain(text) : this.#quotedUneasy(text);
    this.#reserve(length + 2);
    const target = this.#bytes;
    let at = this.#length;
    target[at] = QUOTE;
    at += 1;
    for (let i = 0; i < length; i++) {
      const unit = text.charCodeAt(i);
      if (unit < 0x20 || unit === QUOTE || unit === BACKSLASH || unit > 0x7e) return this.#quotedUneasy(text);
      target[at] = unit;
      at += 1;
    }
    target[at] = QUOTE;
    this.#length = at + 1;
    return true;
  }

  #quotedPlain(text: string): boolean {
    const { length } = text;
    this.#reserve(length + 2);
    const target = this.#bytes;
    const at = this.#length;
    target[at] = QUOTE;
    target.write(text, at + 1, 'latin1');
    target[at + 1 + length] = QUOTE;
    this.#length = at + length + 2;
    return true;
  }

  #quotedUneasy(text: string): boolean {
    // The check comes before the quoting, which turns a lone surrogate into six innocent characters.
    if (!text.isWellFormed()) return false;
    const quoted = JSON.stringify(text);
    this.#reserve(quoted.length * 3);
    this.#length += this.#bytes.write(quoted, this.#length, 'utf8');
    this.#ascii = false;
    return true;
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes > this.#bytes.length) this.#grow(this.#length + bytes);
  }

  #grow(size: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, size));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}
