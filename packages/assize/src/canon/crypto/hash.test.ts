import { createHash, createHmac } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { jsonText, jsonValue } from '../../../../../tests/json-values.ts';
import { canonFault } from '../../../../../tests/support/canon-fault.ts';
import { thrownBy } from '../../../../../tests/thrown-by.ts';
import { canonicalize } from '../json/canonicalize.ts';
import { contentHash, hashText, keyedHash } from './hash.ts';

test('SHA-256 in lower-case hex (FIPS 180-4)', () => {
  expect(hashText('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  expect(hashText('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});

test('of the UTF-8 bytes', () => {
  fc.assert(
    fc.property(jsonText, (text) => {
      expect(hashText(text)).toBe(createHash('sha256').update(Buffer.from(text)).digest('hex'));
    }),
  );
});

test('a text without UTF-8 is refused: it would share its hash with another', () => {
  expect(canonFault(thrownBy(() => hashText('a\ud800')))).toBe('lone_surrogate');
});

test('the hash of a value is that of its canonical text', () => {
  fc.assert(
    fc.property(jsonValue, (value) => {
      expect(contentHash(value)).toBe(hashText(canonicalize(value)));
    }),
  );
  expect(contentHash({ b: 1, a: 2 })).toBe(contentHash({ a: 2, b: 1 }));
  expect(thrownBy(() => contentHash({ a: [undefined] })).pointer).toBe('/a/0');
  expect(canonFault(thrownBy(() => contentHash([[]], { depthMax: 1 })))).toBe('too_deep');
});

test('HMAC-SHA-256 in lower-case hex (RFC 4231, test cases 1 and 6)', () => {
  expect(keyedHash(new Uint8Array(20).fill(0x0b), 'Hi There')).toBe(
    'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
  );
  expect(
    keyedHash(
      new Uint8Array(131).fill(0xaa),
      'Test Using Larger Than Block-Size Key - Hash Key First',
    ),
  ).toBe('60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54');
  expect(canonFault(thrownBy(() => keyedHash(new Uint8Array(16), 'a\ud800')))).toBe(
    'lone_surrogate',
  );
});

test('HMAC of any key and text is that of Node', () => {
  const keys = fc.uint8Array({ minLength: 16, maxLength: 140 });
  fc.assert(
    fc.property(keys, jsonText, (key, text) => {
      expect(keyedHash(key, text)).toBe(createHmac('sha256', key).update(text).digest('hex'));
    }),
  );
  const key = new Uint8Array(32).fill(7);
  for (const bytes of [4_031, 4_032, 4_033, 9_999, 1]) {
    const text = `${'é'.repeat(Math.floor(bytes / 2))}${'e'.repeat(bytes % 2)}`;
    expect(keyedHash(key, text), `${bytes} bytes`).toBe(
      createHmac('sha256', key).update(text).digest('hex'),
    );
  }
});

test('no buffer keeps the key or text after hashing: claims can be erased', () => {
  const key = new Uint8Array(32).fill(7);
  const write = vi.spyOn(Buffer.prototype, 'write');
  try {
    for (const length of [3_000, 4_032, 9_999, 5]) {
      write.mockClear();
      keyedHash(key, 'e'.repeat(length));
      const written = write.mock.contexts.map((buffer) => buffer as Buffer);
      expect(written.length, `${length} bytes`).toBeGreaterThan(0);
      for (const buffer of written)
        expect(buffer.equals(Buffer.alloc(buffer.length)), `all zeros after ${length} bytes`).toBe(
          true,
        );
    }
  } finally {
    write.mockRestore();
  }
});
