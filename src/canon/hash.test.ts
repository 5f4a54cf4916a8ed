import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonText, jsonValue } from '../../tests/json-values.ts';
import { thrownBy } from '../../tests/thrown-by.ts';
import { canonicalize } from './canonicalize.ts';
import { contentHash, hashText } from './hash.ts';

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
  expect(thrownBy(() => hashText('a\ud800')).code).toBe('lone_surrogate');
});

test('the hash of a value is that of its canonical text', () => {
  fc.assert(
    fc.property(jsonValue, (value) => {
      expect(contentHash(value)).toBe(hashText(canonicalize(value)));
    }),
  );
  expect(contentHash({ b: 1, a: 2 })).toBe(contentHash({ a: 2, b: 1 }));
  expect(thrownBy(() => contentHash({ a: [undefined] })).pointer).toBe('/a/0');
  expect(thrownBy(() => contentHash([[]], { depthMax: 1 })).code).toBe('too_deep');
});
