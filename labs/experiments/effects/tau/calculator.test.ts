import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import { calculated } from './calculator.ts';

/** An expression with its value, each made of smaller ones. */
interface Known {
  readonly text: string;
  readonly value: number;
}

const SIGNS = ['+', '-', '*', '/'] as const;
const VALUES: Readonly<Record<(typeof SIGNS)[number], (left: number, right: number) => number>> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  // No number, and so is all that is made of it.
  '/': (left, right) => (right === 0 ? Number.NaN : left / right),
};

const amount = fc.integer({ min: 0, max: 99_999 }).map((cents): Known => {
  const text = (cents / 100).toString();
  return { text, value: cents / 100 };
});
const { known } = fc.letrec<{ known: Known }>((tie) => ({
  known: fc.oneof(
    { maxDepth: 4 },
    amount,
    tie('known').map(({ text, value }) => ({ text: `(-${bracketed(text)})`, value: -value })),
    fc.tuple(tie('known'), fc.constantFrom(...SIGNS), tie('known')).map(([left, sign, right]) => ({
      text: `${bracketed(left.text)} ${sign} ${bracketed(right.text)}`,
      value: VALUES[sign](left.value, right.value),
    })),
  ),
}));

function bracketed(text: string): string {
  return /^[\d.]+$/.test(text) ? text : `(${text})`;
}

test('an expression has the value that its parts give it', () => {
  fc.assert(
    fc.property(known, ({ text, value }) => {
      fc.pre(Number.isFinite(value) && Math.abs(value) < 1e9);
      expect(calculated(text)).toBe(Math.round(value * 100) / 100);
    }),
    { numRuns: cases(300) },
  );
});

test.each([
  ['2 * ((350 - 122) + (499 - 127))', 1200],
  ['3131.1 + 4777.75 + 367.38', 8276.23],
  ['135.24 - 153.23', -17.99],
  ['10 - 4 - 3', 3],
  ['16 / 4 / 2', 2],
  ['2 + 3 * 4', 14],
  ['--2 - -1', 3],
  ['.5 + 1.', 1.5],
])('%s', (expression, value) => {
  expect(calculated(expression)).toBe(value);
});

test.each([
  ['2 ** 2', 'invalid syntax'],
  ['', 'invalid characters in expression'],
  ['process.exit()', 'invalid characters in expression'],
  ['1 / (2 - 2)', 'division by zero'],
  ['(1', 'invalid syntax'],
  ['1 2', 'invalid syntax'],
  ['1.2.3', 'invalid syntax'],
  ['. + 1', 'invalid syntax'],
])('%s is refused', (expression, why) => {
  expect(() => calculated(expression)).toThrow(why);
});
