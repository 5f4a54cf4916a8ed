import { shownOf } from 'assize/internal/views/shown.ts';
import { expect, test } from 'vitest';
import type { Card } from '../../api/queries.ts';
import { commonSum } from './common-sum.ts';

const asking = (args: unknown) => shownOf({ name: 'pay', args }) as unknown as Card;
const sumOf = (...all: readonly unknown[]) => commonSum(all.map(asking));
const paying = (cents: number, currency = 'EUR') => ({ cents, currency });

test('amounts have a sum for each currency', () => {
  const all = [paying(124_000), paying(5, 'USD'), paying(1)];
  expect(sumOf(...all)).toBe('€1,240.01 and $0.05');
  expect(sumOf(...all, paying(5, 'gold'))).toBeUndefined();
});

test.each<[string, readonly unknown[]]>([
  ['a single proposal', [paying(5)]],
  ['numbers without a currency', [{ cents: 5 }, { cents: 7 }]],
  ['a proposal without an amount', [paying(5), { to: 'ada' }]],
  ['erased arguments', [paying(5), undefined]],
  ['a sum that is not exact', [paying(Number.MAX_SAFE_INTEGER), paying(2)]],
])('no sum for %s', (_what, all) => {
  expect(sumOf(...all)).toBeUndefined();
});
