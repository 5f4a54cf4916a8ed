import { expect, test } from 'vitest';
import { skewOf } from '../../../../../tests/support/models/write-skew.ts';
import { budget } from './index.ts';

/** Sees its own spending and the cap. */
const spender = (agent: string, amount: number) => ({
  role: { name: 'spender', params: { agent } },
  decide: ({ spent }: any) =>
    (spent[agent] ?? 0) + amount <= 100_000 ? { action: 'spend', args: { amount } } : undefined,
});

test('two agents spend one budget: each below the cap alone, not together', () => {
  const state = { cap: 100_000, spent: {} };
  const skew = skewOf(budget, state, '2026-01-01T00:00:00.000000Z', [
    spender('ada', 45_000),
    spender('bob', 60_000),
  ]);
  expect(skew).toEqual({
    alone: [[], []],
    withoutKernel: [['BUDGET_CAP'], ['BUDGET_CAP']],
    withKernel: [
      ['approved', 'BUDGET_CAP'],
      ['approved', 'BUDGET_CAP'],
    ],
    broken: [],
  });
});
