import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Assertion, declarePredicate, OPEN_END, type Plan, period, planAssert } from '#memory';
import { cases } from '../../../../../tests/support/cases.ts';
import { errorOf } from '../../../../../tests/support/process/errors.ts';
import { expect as quickly } from '../../../../../tests/support/quick-expect.ts';
import {
  mergeProvenance,
  Polynomial,
  readToken,
  type Token,
  trustToken,
  writeToken,
} from './index.ts';

const ENTRY = 'ab'.repeat(32);
const TOKENS = [
  writeToken(0),
  writeToken(1),
  writeToken(10),
  writeToken(2, ENTRY),
  trustToken('policy', 'v 1+*^'),
];
const { zero, one } = Polynomial;

const monomials = fc.array(fc.constantFrom(...TOKENS), { maxLength: 4 });
const polynomials = fc
  .array(monomials, { maxLength: 4 })
  .map((terms) => terms.reduce((sum, tokens) => sum.plus(productOf(tokens)), zero));

function productOf(tokens: readonly Token[]): Polynomial {
  return tokens.reduce((product, token) => product.times(Polynomial.of(token)), one);
}

describe('tokens', () => {
  test('are of two sorts', () => {
    expect(writeToken(3)).toBe('w:@3');
    expect(writeToken(3, ENTRY)).toBe(`w:${ENTRY}#3`);
    expect(trustToken('approver', 'Zoë <md+1@clinic>')).toBe(
      't:approver:Zo%C3%AB%20%3Cmd%2B1@clinic%3E',
    );
    for (const token of TOKENS) expect(readToken(token)).toBe(token);
  });

  test('any name, and no two names the same token', () => {
    const names = fc.string({ unit: 'binary', minLength: 1 }).filter((name) => name.isWellFormed());
    fc.assert(
      fc.property(names, names, (a, b) => {
        const token = trustToken('judge', a);
        expect(decodeURIComponent(token.slice('t:judge:'.length))).toBe(a);
        expect(readToken(token)).toBe(token);
        expect(trustToken('judge', b) === token).toBe(a === b);
        expect(Polynomial.read(token).tokens).toEqual([token]);
      }),
      { numRuns: cases(500) },
    );
  });

  test.each([
    '',
    'w:@',
    'w:@-1',
    'w:@01',
    'w:@1.5',
    'x:@1',
    `w:${ENTRY}`,
    `w:${ENTRY.toUpperCase()}#1`,
    't:policy:',
    't:oracle:a',
    't:policy:a b',
    't:policy:a%20b%2b',
    't:policy:%61',
    't:policy:%FF',
    't:policy:%',
  ])('cannot be %j', (text) => {
    expect(errorOf(() => readToken(text))).toMatchObject({
      code: 'bad_input',
      message: expect.stringContaining('is not a provenance token'),
      evidence: { text },
    });
  });

  test('a name has to be one', () => {
    for (const name of ['', '\ud800'])
      expect(errorOf(() => trustToken('policy', name))).toMatchObject({
        code: 'bad_input',
        message: expect.stringContaining('is not a provenance token'),
      });
    expect(errorOf(() => writeToken(-1))).toMatchObject({ code: 'bad_argument' });
    expect(errorOf(() => writeToken(1, 'x'))).toMatchObject({
      code: 'bad_input',
      message: expect.stringContaining('is not a provenance token'),
    });
  });

  test('a write of an entry takes the entry’s id once it is known', () => {
    const inside = Polynomial.read('2*t:policy:v1*w:@0 + w:@1^2');
    expect(String(inside.placed(ENTRY))).toBe(`2*t:policy:v1*w:${ENTRY}#0 + w:${ENTRY}#1^2`);
    expect(inside.placed(ENTRY).placed('cd'.repeat(32)).equals(inside.placed(ENTRY))).toBe(true);
  });
});

describe('texts', () => {
  test('are canonical, and lead back', () => {
    fc.assert(
      fc.property(polynomials, polynomials, (a, b) => {
        const text = a.toString();
        expect([...Polynomial.read(text).terms]).toEqual([...a.terms]);
        expect(text === b.toString()).toBe(a.precedes(b) && b.precedes(a));
      }),
      { numRuns: cases(500) },
    );
    expect(String(zero)).toBe('0');
    expect(String(one.plus(one))).toBe('2');
  });

  test.each([
    ['', 'is not a term'],
    ['1 + 0', 'is not a term'],
    ['-1', 'is not a term'],
    ['w:@0+w:@1', 'is not a term'],
    ['w:@0 + ', 'is not a term'],
    ['1*w:@0', 'its canonical text is "w:@0"'],
    ['2w:@0', 'its canonical text is "2*w:@0"'],
    ['w:@1 + w:@0', 'its canonical text is "w:@0 + w:@1"'],
    ['w:@1*w:@0', 'its canonical text is "w:@0*w:@1"'],
    ['w:@0 + w:@0', 'its canonical text is "2*w:@0"'],
    ['w:@0*w:@0', 'its canonical text is "w:@0^2"'],
    ['w:@0^1', 'its canonical text is "w:@0"'],
    ['w:@0^0', 'is not a term'],
    ['w:@0^9007199254740993', 'its canonical text is "w:@0^9007199254740992"'],
    ['w:@0*', 'is not a term'],
  ])('%j is refused', (text, problem) => {
    expect(errorOf(() => Polynomial.read(text))).toMatchObject({
      code: 'bad_input',
      message: expect.stringContaining('is not a polynomial'),
      evidence: { text },
    });
    expect(errorOf(() => Polynomial.read(text))).toMatchObject({
      message: expect.stringContaining(problem),
    });
  });

  test('are merged as they are summed, in any order, and a plan merges with that', () => {
    fc.assert(
      fc.property(fc.array(polynomials, { minLength: 1, maxLength: 4 }), (terms) => {
        const texts = terms.map(String);
        expect(texts.reduce(mergeProvenance)).toBe(String(terms.reduce((a, b) => a.plus(b))));
        expect(texts.toReversed().reduce(mergeProvenance)).toBe(texts.reduce(mergeProvenance));
      }),
      { numRuns: cases(200) },
    );
    const valid = period('2026-03-01T00:00:00.000000Z', OPEN_END);
    const assertion = (object: string, n: number): Assertion => ({
      ...{
        claim: object,
        object,
        valid,
        confidence: 1,
        provenance: String(Polynomial.of(writeToken(n))),
      },
    });
    const plan = planAssert(
      {
        partition: { space: 's', subject: 'alice', predicate: 'medication' },
        declaration: declarePredicate({ cardinality: 'single-valued', strategy: 'lww' }),
        ...{
          open: [],
          latest: null,
          at: '2026-03-23T09:00:00.000000Z',
          seq: 1,
          merge: mergeProvenance,
        },
      },
      [assertion('penicillin', 0), assertion('amoxicillin', 1)],
    ) as Plan;
    const audit = plan.insert.filter(({ row_kind }) => row_kind === 'audit');
    expect(audit.map(({ provenance_id }) => provenance_id)).toEqual(['w:@0 + w:@1']);
  });

  test('an invalid token in a text is refused by its name', () => {
    expect(errorOf(() => Polynomial.read('w:@0*w:@01'))).toMatchObject({
      code: 'bad_input',
      message: expect.stringContaining('is not a provenance token'),
    });
    expect(errorOf(() => Polynomial.read(1 as never))).toMatchObject({ code: 'bad_argument' });
  });
});

test('a precedes b exactly when some polynomial makes up the difference', () => {
  fc.assert(
    fc.property(polynomials, polynomials, (a, b) => {
      const missing = [...b.terms].flatMap(([monomial, n]) => {
        const left = n - (a.terms.get(monomial) ?? 0n);
        return left > 0n
          ? [left === 1n && monomial !== '' ? monomial : [left, monomial].filter(Boolean).join('*')]
          : [];
      });
      const rest = missing.length === 0 ? zero : Polynomial.read(missing.join(' + '));
      quickly(a.precedes(b)).toBe(a.plus(rest).equals(b));
    }),
    { numRuns: cases(500) },
  );
});

type Query = readonly (readonly number[])[];

function answer(query: Query, row: (i: number) => Polynomial): Polynomial {
  return query.reduce(
    (sum, rows) => sum.plus(rows.reduce((product, i) => product.times(row(i)), one)),
    zero,
  );
}

const ROWS = 3;
const X = (i: number): Token => writeToken(i);
const queries = fc.array(fc.array(fc.nat(ROWS - 1), { maxLength: 3 }), { maxLength: 4 });

test('substituting 0 deletes: the answer is as of the query without the write', () => {
  fc.assert(
    fc.property(queries, fc.nat(ROWS - 1), (query, gone) => {
      const whole = answer(query, (i) => Polynomial.of(X(i)));
      const without = answer(query, (i) => (i === gone ? zero : Polynomial.of(X(i))));
      quickly(whole.substitute(X(gone), zero).equals(without)).toBe(true);
    }),
    { numRuns: cases(500) },
  );
});

test('to substitute is to put a value: sums and products go through', () => {
  fc.assert(
    fc.property(queries, polynomials, fc.nat(ROWS - 1), (query, value, place) => {
      const put = answer(query, (i) => (i === place ? value : Polynomial.of(X(i))));
      const whole = answer(query, (i) => Polynomial.of(X(i)));
      // The values have tokens of the rows too, so rows other than the place are renamed first.
      const free = value.tokens.every((token) => token !== X(place));
      if (free) quickly(whole.substitute(X(place), value).equals(put)).toBe(true);
    }),
    { numRuns: cases(300) },
  );
});
