/**
 * A walk over the life of one budget (Agentic Redux §2.3): all orders in which two agents may spend
 * it.
 */

import {
  domainWithout,
  type LifeCycle,
  type LifeCycleProposal,
  walkLifeCycle,
} from '@assize/testing/internal';
import { expect, test } from 'vitest';
import { type BudgetState, budget } from './index.ts';

const spend = (agent: string, amount: number): LifeCycleProposal => ({
  action: 'spend',
  role: { name: 'spender', params: { agent } },
  args: { amount },
});

const LIFE: LifeCycle<BudgetState> = {
  domain: budget,
  initial: { cap: 100_000, spent: {} },
  at: '2026-01-01T00:00:00.000000Z',
  depth: 6,
  proposals: () =>
    ['ada', 'bob'].flatMap((agent) => [1, 45_000, 60_000, 100_000].map((sum) => spend(agent, sum))),
  allowed: (before, { args, role }, after) => {
    const { amount } = args as { amount: number };
    const [was, is] = [before.spent, after.spent].map((spent) => ({ ada: 0, bob: 0, ...spent }));
    const [agent, other] =
      role.params['agent'] === 'ada' ? (['ada', 'bob'] as const) : (['bob', 'ada'] as const);
    if (is![agent] !== was![agent] + amount || is![other] !== was![other])
      return 'it is not what was spent';
    return is!.ada + is!.bob > 100_000 ? 'more than there is' : undefined;
  },
};

test('to six steps from the beginning no more is spent than there is', () => {
  const { counterexample, transitions } = walkLifeCycle(LIFE);
  expect(counterexample).toBeUndefined();
  expect(transitions).toBeGreaterThan(50);
});

test('without the cap it is', () => {
  const { counterexample } = walkLifeCycle({
    ...LIFE,
    domain: domainWithout(budget, 'BUDGET_CAP'),
  });
  expect(counterexample).toMatchObject({ why: 'more than there is', path: { length: 2 } });
});
