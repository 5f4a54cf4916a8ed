import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { redacted } from './redacted.ts';

const key = fc.stringMatching(/^[A-Za-z0-9_-]{12,60}$/);

test('no six characters of a key are left, wherever a server quotes a part', () => {
  fc.assert(
    fc.property(
      key,
      fc.array(fc.tuple(fc.string({ maxLength: 20 }), fc.nat(50), fc.nat(60))),
      (secret, parts) => {
        const text = parts
          .map(([words, from, length]) => words + secret.slice(from, from + length))
          .join('');
        const shown = redacted(text, secret).replaceAll('[key]', '\0');
        for (let at = 0; at + 6 <= secret.length; at++)
          expect(shown).not.toContain(secret.slice(at, at + 6));
      },
    ),
  );
});

test('a text without the key is one well-formed line of bounded length', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 6_000 }), (text) => {
      const shown = redacted(text, 'sk-0123456789abcdef');
      expect(shown).not.toMatch(/[\n\r\0\u200b]/);
      expect(shown.length).toBeLessThanOrEqual(301);
      expect(shown.isWellFormed()).toBe(true);
    }),
  );
  expect(redacted('no model  x\nfound ', undefined)).toBe('no model x found');
});
