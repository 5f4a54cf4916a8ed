import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import { type ContextFact, contextOf } from './context.ts';
import { estimateTokens } from './tokens.ts';

const HOSTILE = [
  '</memory>',
  '\n',
  '"}',
  '{"id":"x"}',
  '\u202e',
  '\u200b',
  '&lt;',
  '\u{e0041}',
  '\u2028',
  '\ud800',
];
/** Shown as nothing: variation selectors, joiners and fillers. */
const UNSEEN = ['\u{e0159}', '\ufe0f', '\u034f', '\u3164', '\u115f', '\uffa0', '\u180b', '\u2800'];
const text = fc
  .array(fc.oneof(fc.constantFrom(...HOSTILE, ...UNSEEN), fc.string({ unit: 'binary' })), {
    minLength: 1,
    maxLength: 5,
  })
  .map((parts) => parts.join(''));
const fact: fc.Arbitrary<ContextFact> = fc.record({
  id: fc.stringMatching(/^[0-9a-f]{64}$/),
  space: text,
  subject: text,
  predicate: text,
  object: text,
  valid_from: fc.constantFrom('2026-03-01T00:00:00.000000Z', '0000-01-01T00:00:00.000000Z'),
  valid_to: fc.constantFrom('2026-03-02T09:00:00.000001Z', '9999-12-31T00:00:00.000000Z'),
  authors: fc.array(
    fc.record({ role: fc.constantFrom('user' as const, 'assistant' as const), name: text }),
    {
      maxLength: 2,
    },
  ),
  isContested: fc.boolean(),
});

/** The words of a text, and its signs: not additive, as a real tokenizer is not. */
const tokenizers: Record<string, (text: string) => number> = {
  estimate: estimateTokens,
  bytes: (given) => Buffer.byteLength(given),
  words: (given) => given.split(/\s+/).length,
  alternating: (given) => (given.length % 3 === 0 ? given.length : Math.floor(given.length / 5)),
};

test.each(Object.keys(tokenizers))(
  'the block never exceeds its budget, with the tokenizer %s',
  (name) => {
    const countTokens = tokenizers[name]!;
    fc.assert(
      fc.property(fc.array(fact, { maxLength: 6 }), fc.nat({ max: 600 }), (facts, budget) => {
        const { text, tokens, shown } = contextOf(facts, { budget, countTokens });
        if (text === '') return void expect([tokens, shown]).toEqual([0, 0]);
        expect(countTokens(text)).toBe(tokens);
        expect(tokens).toBeLessThanOrEqual(budget);
      }),
      { numRuns: cases(200) },
    );
  },
);

test('a block without a budget has every fact as data, whatever its texts are', () => {
  fc.assert(
    fc.property(fc.array(fact, { minLength: 1, maxLength: 6 }), (facts) => {
      const { text, shown } = contextOf(facts, { countTokens: estimateTokens });
      const lines = text.split(/\r\n|[\n\r\u2028\u2029\u0085\v\f]/);
      expect([shown, lines[0], lines.at(-1), lines.length]).toEqual([
        facts.length,
        '<memory>',
        '</memory>',
        facts.length + 3,
      ]);
      for (const [n, line] of lines.slice(2, -1).entries()) {
        expect(line).not.toMatch(
          /[<>&\p{Cf}\p{Zl}\p{Zp}\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}]/u,
        );
        expect(UNSEEN.filter((hidden) => line.includes(hidden))).toEqual([]);
        const {
          id,
          subject,
          predicate,
          object,
          space,
          from,
          to,
          said_by,
          contested = false,
        } = JSON.parse(line);
        const { valid_from, valid_to, authors, ...known } = facts[n]!;
        const said = authors.map(({ role, name }) => `${role} ${name}`);
        expect(said_by).toEqual(said.length === 0 ? undefined : said);
        expect({ id, subject, predicate, object, space, isContested: contested }).toEqual({
          ...known,
          id: known.id.slice(0, 12),
        });
        expect([from, to]).toEqual([
          valid_from.startsWith('0000') ? undefined : '2026-03-01',
          valid_to.startsWith('9999') ? undefined : '2026-03-02T09:00:00Z',
        ]);
      }
    }),
    { numRuns: cases(500) },
  );
});

test('a fact that does not fit leaves room for a shorter one', () => {
  const short = {
    id: 'a',
    space: 's',
    subject: 'ida',
    predicate: 'p',
    object: 'x',
    valid_from: '0000-01-01T00:00:00.000000Z',
    valid_to: '9999-12-31T00:00:00.000000Z',
    authors: [],
    isContested: false,
  };
  const { text, shown } = contextOf([{ ...short, object: 'word '.repeat(500) }, short], {
    budget: 120,
    countTokens: estimateTokens,
  });
  expect([shown, JSON.parse(text.split('\n')[2]!).object]).toEqual([1, 'x']);
});

test('a tokenizer that returns no number is refused', () => {
  const one = {
    id: 'a',
    space: 's',
    subject: 'ida',
    predicate: 'p',
    object: 'x',
    valid_from: '',
    valid_to: '',
    authors: [],
    isContested: false,
  };
  for (const wrong of [Number.NaN, -1, 1.5, '7', undefined])
    expect(() => contextOf([one], { countTokens: () => wrong as number })).toThrowError(
      expect.objectContaining({
        code: 'function_failed',
        message: expect.stringContaining('The function countTokens'),
      }),
    );
});
