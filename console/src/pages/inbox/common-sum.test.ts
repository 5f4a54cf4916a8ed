import { shownOf } from 'assize/internal/views/shown.ts';
import { expect, test } from 'vitest';
import type { Approval } from '../../api/queries.ts';
import { commonSum } from './common-sum.ts';

const asking = (args: unknown, name = 'pay') =>
  ({ action: { name, args }, shown: shownOf({ name, args }) }) as unknown as Approval;
const sumOf = (...all: readonly unknown[]) => commonSum(all.map((args) => asking(args)))?.text;

test('like proposals have the sum of their only number', () => {
  expect(sumOf({ to: 'ada', cents: 40 }, { to: 'ben', cents: -5 }, { cents: 7 })).toEqual(
    'cents: 42',
  );
  const call = (cents: number) => asking({ server: 'bank', tool: 'pay', args: { cents } }, 'call');
  expect(commonSum([call(1), call(2)])?.text).toBe('cents: 3');
});

test('amounts have a sum for each currency', () => {
  const paying = (cents: number, currency: string) => ({ cents, currency });
  const all = [paying(124_000, 'EUR'), paying(5, 'USD'), paying(1, 'EUR')];
  expect(sumOf(...all)).toBe('€1,240.01 and $0.05');
  expect(sumOf(...all, { cents: 5, currency: 'gold' })).toBeUndefined();
  expect(sumOf(...all, { cents: '5', currency: 'EUR' })).toBeUndefined();
});

test.each<[string, readonly unknown[]]>([
  ['a single proposal', [{ cents: 5 }]],
  [
    'two numbers',
    [
      { cents: 5, guests: 2 },
      { cents: 5, guests: 2 },
    ],
  ],
  ['different names', [{ cents: 5 }, { euros: 5 }]],
  ['a proposal without a number', [{ cents: 5 }, { to: 'ada' }]],
  ['a fraction, such as a rate', [{ rate: 0.5 }, { rate: 1 }]],
  ['erased arguments', [{ cents: 5 }, undefined]],
  ['arguments that are a list', [[5], [6]]],
  ['a sum that is not exact', [{ cents: Number.MAX_SAFE_INTEGER }, { cents: 2 }]],
])('no sum for %s', (_what, all) => {
  expect(sumOf(...all)).toBeUndefined();
});

test('no sum over different actions', () => {
  expect(commonSum([asking({ cents: 1 }), asking({ cents: 1 }, 'refund')])).toBeUndefined();
});
