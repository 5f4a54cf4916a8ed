import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lineDiff } from './line-diff.ts';

const text = fc
  .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 7 })
  .map((lines) => lines.join('\n'));

/** The length of a longest common subsequence, by trying all of them. */
function longest(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return 0;
  const [first, ...rest] = a;
  const at = b.indexOf(first as string);
  return Math.max(longest(rest, b), at < 0 ? 0 : 1 + longest(rest, b.slice(at + 1)));
}

test('a diff gives back both texts, and keeps as many lines as possible', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = lineDiff(before, after);
      const without = (sign: string): string =>
        lines
          .filter((one) => one.sign !== sign)
          .map((one) => one.text)
          .join('\n');
      expect([without('+'), without('-')]).toEqual([before, after]);
      expect(lines.filter(({ sign }) => sign === ' ')).toHaveLength(
        longest(before.split('\n'), after.split('\n')),
      );
    }),
    { numRuns: 300 },
  );
});

test('long texts that share nothing are removed and added as a whole', () => {
  const many = (name: string): string =>
    Array.from({ length: 2_100 }, (_, i) => `${name}${i}`).join('\n');
  const lines = lineDiff(many('a'), many('b'));
  expect(lines.map(({ sign }) => sign).join('')).toBe('-'.repeat(2_100) + '+'.repeat(2_100));
});
