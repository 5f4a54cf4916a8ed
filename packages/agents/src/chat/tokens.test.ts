import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import { estimateTokens } from './tokens.ts';

/** The pieces that a usual byte-level tokenizer never joins: each is a token at least. */
function piecesOf(text: string): number {
  return [...text.matchAll(/ ?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu)].length;
}

const LETTERS = [...'aeiorstnQZ'];
const text = fc
  .array(
    fc.oneof(fc.constantFrom(...LETTERS, ...' 019.,\n\t"{é語🙂'), fc.string({ unit: 'binary' })),
    {
      maxLength: 60,
    },
  )
  .map((parts) => parts.join(''));

test('an estimate is at least the pieces of a text, and at most its bytes', () => {
  fc.assert(
    fc.property(text, (text) => {
      expect(estimateTokens(text)).toBeGreaterThanOrEqual(piecesOf(text));
      expect(estimateTokens(text)).toBeLessThanOrEqual(Buffer.byteLength(text));
    }),
    { numRuns: cases(1_000) },
  );
});

test.each([
  ['1 2 3 4 5 6 7 8 9 0', 19],
  ['a word', 3],
  ['a  b', 3],
  ['语', 3],
])('%j is about %i tokens', (text, tokens) => {
  expect(estimateTokens(text)).toBe(tokens);
});
