import { Polynomial, type Token, trustToken, writeToken } from 'assize/internal/memory/provenance';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases, hasUsualCases } from '../../../../tests/support/cases.ts';
import { expect as quickly } from '../../../../tests/support/quick-expect.ts';
import {
  BOOLEAN,
  type Carrier,
  degreeOf,
  MULTIDEGREE,
  MULTILINEAR,
  recoverByShift,
  shift,
  withExponents,
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

test('exponents are replaced one by one, and 0 removes the token', () => {
  fc.assert(
    fc.property(polynomials, (a) => {
      quickly(withExponents(a, (exponent) => exponent).equals(a)).toBe(true);
    }),
    { numRuns: cases(300) },
  );
  const given = Polynomial.read('2*w:@0^3*w:@1 + w:@2');
  expect(
    String(withExponents(given, (exponent, token) => (token === 'w:@0' ? exponent - 1 : 0))),
  ).toBe('1 + 2*w:@0^2');
  expect([degreeOf(given, 'w:@0'), degreeOf(given, 'w:@5')]).toEqual([3, 0]);
});

const CARRIERS: readonly Carrier<any>[] = [MULTIDEGREE, MULTILINEAR, BOOLEAN];

describe.each(CARRIERS.map((carrier) => [carrier.name, carrier] as const))(
  'the carrier %s',
  (_, carrier) => {
    const { plus, times, equals, precedes, project } = carrier;
    const values = polynomials.map(project);

    test('is a commutative semiring', () => {
      fc.assert(
        fc.property(values, values, values, (a, b, c) => {
          const laws: readonly [string, unknown, unknown][] = [
            ['sums commute', plus(a, b), plus(b, a)],
            ['sums associate', plus(plus(a, b), c), plus(a, plus(b, c))],
            ['0 adds nothing', plus(a, carrier.zero), a],
            ['products commute', times(a, b), times(b, a)],
            ['products associate', times(times(a, b), c), times(a, times(b, c))],
            ['1 takes nothing', times(a, carrier.one), a],
            ['0 takes all', times(a, carrier.zero), carrier.zero],
            ['products distribute', times(a, plus(b, c)), plus(times(a, b), times(a, c))],
          ];
          quickly(
            laws.filter(([, left, right]) => !equals(left, right)).map(([law]) => law),
          ).toEqual([]);
        }),
        { numRuns: cases(300) },
      );
    });

    test('has a natural order: a value precedes its sums and nothing that lacks it', () => {
      fc.assert(
        fc.property(values, values, values, (a, b, c) => {
          quickly(precedes(a, plus(a, b))).toBe(true);
          quickly(precedes(a, b) && precedes(b, a)).toBe(equals(a, b));
          quickly(precedes(a, b) && precedes(b, c) && !precedes(a, c)).toBe(false);
          if (precedes(a, b))
            quickly(precedes(plus(a, c), plus(b, c)) && precedes(times(a, c), times(b, c))).toBe(
              true,
            );
        }),
        { numRuns: cases(300) },
      );
    });

    test('is an image of N[X,T]: it makes no difference when it is taken', () => {
      fc.assert(
        fc.property(polynomials, polynomials, (a, b) => {
          quickly(equals(project(a.plus(b)), plus(project(a), project(b)))).toBe(true);
          quickly(equals(project(a.times(b)), times(project(a), project(b)))).toBe(true);
        }),
        { numRuns: cases(300) },
      );
      quickly(equals(project(zero), carrier.zero) && equals(project(one), carrier.one)).toBe(true);
    });
  },
);

test('carriers are images of one another: multidegree, multilinear, Boolean', () => {
  fc.assert(
    fc.property(polynomials, (a) => {
      const linear = MULTILINEAR.project(a);
      quickly(MULTILINEAR.project(linear).equals(linear)).toBe(true);
      quickly(BOOLEAN.project(linear)).toBe(BOOLEAN.project(a));
      quickly(linear.tokens).toEqual(a.tokens);
      for (const token of TOKENS)
        quickly(degreeOf(linear, token)).toBe(Math.min(1, degreeOf(a, token)));
    }),
    { numRuns: cases(300) },
  );
});

// A log of rows, each with its number of occurrences, and a query: a sum of products of rows. A
// value for each row gives the value of the answer in a carrier. Theorem 11 is about these values,
// and deletion must agree with it.

type Query = readonly (readonly number[])[];

function answer(query: Query, row: (i: number) => Polynomial): Polynomial {
  return query.reduce(
    (sum, rows) => sum.plus(rows.reduce((product, i) => product.times(row(i)), one)),
    zero,
  );
}

const ROWS = 3;
const X = (i: number): Token => writeToken(i);
/** As the paper's: of each row a product has at most one. */
const linearQueries = fc.array(fc.uniqueArray(fc.nat(ROWS - 1), { maxLength: 3 }), {
  maxLength: 4,
});
const copies = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: ROWS, maxLength: ROWS });

/** Definition 9: k occurrences of a row are the power X^k; without any, the row is not there. */
function power(token: Token, k: number): Polynomial {
  return k === 0 ? zero : productOf(Array.from({ length: k }, () => token));
}

describe('Theorem 11', () => {
  test('for products that use a row once, shift is right iff the degree is >= 2', () => {
    let shown = 0;
    fc.assert(
      fc.property(linearQueries, copies, fc.nat(ROWS - 1), (query, counts, r) => {
        const at = (k: (i: number) => number): Polynomial =>
          answer(query, (i) => power(X(i), k(i)));
        const whole = at((i) => counts[i]!);
        const less = at((i) => counts[i]! - (i === r ? 1 : 0));
        // An answer that does not mention the row stays the same, and the theorem does not cover
        // it.
        if (degreeOf(whole, X(r)) === 0) return;
        shown += 1;
        expect(shift(whole, X(r)).equals(less)).toBe(degreeOf(whole, X(r)) >= 2);
        expect(recoverByShift(whole, X(r)) === undefined).toBe(counts[r] === 1);
      }),
      { numRuns: cases(500) },
    );
    if (hasUsualCases()) expect(shown).toBeGreaterThan(100);
  });

  test('the derivative does not recover: it puts the exponent before it', () => {
    const whole = power(X(0), 3);
    const derivative = shift(whole, X(0))
      .plus(shift(whole, X(0)))
      .plus(shift(whole, X(0)));
    expect(String(derivative)).toBe('3*w:@0^2');
    expect(String(recoverByShift(whole, X(0)))).toBe('w:@0^2');
  });

  test('at one occurrence N[X,T] recovers by deletion; only shift needs a degree', () => {
    const whole = answer([[0, 1], [2]], (i) => Polynomial.of(X(i)));
    expect(recoverByShift(whole, X(0))).toBeUndefined();
    expect(String(whole.substitute(X(0), zero))).toBe('w:@2');
    expect(String(shift(whole, X(0)))).toBe('w:@1 + w:@2');
  });

  test('a row joined with itself has degree 2, not copies, and a wrong shift', () => {
    const once = answer([[0, 0]], (i) => power(X(i), 1));
    const twice = answer([[0]], (i) => power(X(i), 2));
    expect(once.equals(twice)).toBe(true);
    // One occurrence less leaves nothing of the first query and X of the second, although their
    // answers are equal.
    expect(String(recoverByShift(once, X(0)))).toBe('w:@0');
  });

  test('multidegree tells one occurrence from two; multilinear, Boolean do not', () => {
    const query: Query = [[0, 1], [2]];
    const at = (k: number): Polynomial => answer(query, (i) => power(X(i), i === 0 ? k : 1));
    for (const carrier of CARRIERS) {
      const tells = !carrier.equals(carrier.project(at(1)), carrier.project(at(2)));
      expect(tells, carrier.name).toBe(carrier.name === 'multidegree');
    }
    // And yet the answers with one occurrence less are two.
    expect(MULTILINEAR.project(at(0)).equals(MULTILINEAR.project(at(1)))).toBe(false);
  });
});
