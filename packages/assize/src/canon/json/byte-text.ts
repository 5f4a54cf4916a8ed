const SIZE_FIRST = 65_536;
/** A larger buffer is released, so a large value does not hold its memory permanently. */
const SIZE_KEPT_MAX = 4_194_304;
/** Up to this length a loop over the units is faster than two calls into the engine. */
const LOOP_MAX = 40;
/** Any character that is longer in UTF-8 than in UTF-16 units, or must be escaped. */
const NOT_PLAIN = /[^ !#-[\]-~]/;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** True if the string is written in JSON without escapes, one byte per character. */
export function isPlain(text: string): boolean {
  return !NOT_PLAIN.test(text);
}

/**
 * A JSON text under construction, as UTF-8 bytes in a reusable buffer. Bytes and not strings: a
 * concatenation of hundreds of strings is a tree, and flattening it took longer than hashing.
 */
export class ByteText {
  #bytes: Buffer = Buffer.allocUnsafeSlow(SIZE_FIRST);
  #length = 0;
  #ascii = true;

  /** Number of bytes written. */
  get length(): number {
    return this.#length;
  }

  toString(): string {
    // Latin-1 is the fastest decoder. It is right for ASCII only.
    return this.#bytes.toString(this.#ascii ? 'latin1' : 'utf8', 0, this.#length);
  }

  /** Discards the written bytes and starts again. */
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

  /** A few unescaped ASCII characters. */
  ascii(text: string): void {
    const { length } = text;
    this.#reserve(length);
    const target = this.#bytes;
    const start = this.#length;
    for (let i = 0; i < length; i++) target[start + i] = text.charCodeAt(i);
    this.#length = start + length;
  }

  /** A whole number from 0 to 2^31-1, without an intermediate string. */
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

  /**
   * A quoted string, escaped according to RFC 8785 section 3.2.2.2. Returns false and writes
   * nothing if the string is not well-formed.
   */
  quoted(text: string): boolean {
    const { length } = text;
    if (length > LOOP_MAX)
      return isPlain(text) ? this.#quotedPlain(text) : this.#quotedUneasy(text);
    this.#reserve(length + 2);
    const target = this.#bytes;
    let at = this.#length;
    target[at] = QUOTE;
    at += 1;
    for (let i = 0; i < length; i++) {
      const unit = text.charCodeAt(i);
      if (unit < 0x20 || unit === QUOTE || unit === BACKSLASH || unit > 0x7e)
        return this.#quotedUneasy(text);
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
    // Checked before quoting, because quoting turns a lone surrogate into six valid characters.
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
