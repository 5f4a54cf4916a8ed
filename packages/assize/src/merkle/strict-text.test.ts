import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isNoteText,
  readBase64,
  readDecimal,
  readHash,
  readText,
  writeBase64,
} from './strict-text.ts';

describe('decimal numbers', () => {
  test('up to 2^64-1 have one spelling', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (value) => {
        expect(readDecimal(`${value}`)).toBe(value);
        for (const other of [
          `0${value}`,
          `+${value}`,
          ` ${value}`,
          `${value} `,
          `${value}\n`,
          `${value}.0`,
        ]) {
          expect(readDecimal(other)).toBe(undefined);
        }
      }),
    );
    for (const value of [
      0n,
      9n,
      10n,
      2n ** 31n,
      2n ** 32n,
      2n ** 53n + 1n,
      2n ** 63n,
      2n ** 64n - 1n,
    ]) {
      expect(readDecimal(`${value}`)).toBe(value);
    }
  });

  test.each([
    '',
    '-0',
    '-1',
    '00',
    '1e3',
    '0x1',
    '1_0',
    '1n',
    '\u0661',
    '\uff11',
    `${2n ** 64n}`,
    '9'.repeat(20),
    '1'.repeat(99_999),
  ])('not "%.30s"', (text) => {
    expect(readDecimal(text)).toBe(undefined);
  });
});

describe('Base64', () => {
  test('of any bytes is read back, and has one spelling', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        const text = writeBase64(bytes);
        expect(Buffer.from(readBase64(text)!)).toEqual(Buffer.from(bytes));
        for (const other of [
          ` ${text}`,
          `${text}\n`,
          `${text}=`,
          `${text.slice(0, 2)} ${text.slice(2)}`,
          `${text}!`,
        ]) {
          expect(readBase64(other)).toBe(undefined);
        }
        const unpadded = text.replace(/=+$/, '');
        expect(readBase64(unpadded) !== undefined).toBe(unpadded === text);
      }),
    );
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'ABab01+/=-_ '), maxLength: 12 }),
        (text) => {
          const bytes = readBase64(text);
          if (bytes !== undefined) expect(writeBase64(bytes)).toBe(text);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('has no bits beside, and is not that of URLs', () => {
    expect(readBase64('AQ==')).toEqual(Buffer.of(1));
    expect(readBase64('AR==')).toBe(undefined);
    expect(readBase64('AAF=')).toBe(undefined);
    expect(readBase64('+/+/')).toEqual(Buffer.of(0xfb, 0xff, 0xbf));
    expect(readBase64('-_-_')).toBe(undefined);
  });

  test('of a view is that of the view only', () => {
    expect(writeBase64(Uint8Array.of(9, 1, 2, 9).subarray(1, 3))).toBe('AQI=');
  });

  test('of a hash is that of 32 bytes', () => {
    for (const length of [0, 31, 32, 33]) {
      expect(readHash(writeBase64(new Uint8Array(length)))?.length).toBe(
        length === 32 ? 32 : undefined,
      );
    }
  });
});

describe('text of any origin', () => {
  const text = (source: unknown, max = 1_000) => {
    const read = readText(source, max);
    return 'text' in read ? read.text : undefined;
  };

  test('is exactly the whole decoding of its UTF-8 bytes', () => {
    for (const good of ['', 'a\nb\n', '\ufeffbyte order mark', 'é\u{1f600}\u0085\u007f\u2028']) {
      expect(text(good)).toBe(good);
      expect(text(new TextEncoder().encode(good))).toBe(good);
      expect(text(Buffer.from(`x${good}x`).subarray(1, -1))).toBe(good);
    }
  });

  test('is refused when it is not UTF-8', () => {
    for (const bad of [
      [0xff],
      [0xc0, 0x80],
      [0xed, 0xa0, 0x80],
      [0xe2, 0x80],
      [0xf4, 0x90, 0x80, 0x80],
      [0x80],
    ]) {
      expect(text(Uint8Array.from(bad))).toBe(undefined);
    }
    expect(text('\ud800')).toBe(undefined);
  });

  test('is refused with any control character but the newline', () => {
    for (let code = 0; code < 0x20; code++) {
      const character = String.fromCharCode(code);
      expect(text(`a${character}b`) !== undefined).toBe(character === '\n');
      expect(isNoteText(`${character}`)).toBe(character === '\n');
      expect(text(Uint8Array.of(code)) !== undefined).toBe(character === '\n');
    }
  });

  test('is refused when its bytes are more than the limit', () => {
    expect(text('é'.repeat(5), 10)).toBe('é'.repeat(5));
    expect(text('é'.repeat(5) + 'a', 10)).toBe(undefined);
    expect(text(new Uint8Array(10).fill(97), 10)).toBe('a'.repeat(10));
    expect(text(new Uint8Array(11).fill(97), 10)).toBe(undefined);
  });

  test('is text or bytes', () => {
    for (const bad of [undefined, null, 1, {}, [], ['a'], new ArrayBuffer(1), Object('a')])
      expect(text(bad)).toBe(undefined);
  });
});
