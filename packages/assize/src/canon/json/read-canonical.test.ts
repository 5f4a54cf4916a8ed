import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalize, parseCanonical, readCanonical } from '../index.ts';

test('reads the same values as parseCanonical', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalize(value, { integers: 'any', bytesMax: 2 ** 24 });
      if (/\d{16}|e\+/.test(text)) return;
      expect(readCanonical(text)).toEqual(parseCanonical(text));
    }),
  );
});

test('reads escaped names after texts priming JSON.parse (nodejs/node#63785)', () => {
  const prime = '{"\\\\nx":0,"h":[]}';
  const text = '{"\\nxy":0,"h":1}';
  for (let i = 0; i < 100; i++) {
    readCanonical(prime);
    expect(readCanonical(text)).toEqual({ '\nxy': 0, h: 1 });
  }
});
