import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RuledProposals } from './ruled-proposals.ts';

const digit = fc.constantFrom(...'0123456789abcdef');
const id = fc.oneof(
  fc.string({ unit: digit, minLength: 64, maxLength: 64 }),
  fc.constantFrom('0'.repeat(64), 'f'.repeat(64), `${'0'.repeat(12)}${'f'.repeat(52)}`),
);

test('what was kept is found again behind its text, and nothing else', () => {
  fc.assert(
    fc.property(fc.array(fc.option(id)), fc.array(id), (ids, others) => {
      const ruled = new RuledProposals();
      for (const [seq, each] of ids.entries()) if (each !== null) ruled.add(each, seq);
      const again = RuledProposals.from(ruled.state());
      for (const each of [...ids, ...others]) if (each !== null) expect(again.seqOf(each)).toBe(ruled.seqOf(each));
      expect(again.state()).toBe(ruled.state());
    }),
  );
});

test.each(['A', 'AAAA', '!!!!!!!!!!==', 'AAAAAAAAAA'])('%j is no text of it', (text) => {
  expect(() => RuledProposals.from(text)).toThrow(SyntaxError);
});
