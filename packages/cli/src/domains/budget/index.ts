/**
 * The example of Agentic Redux §1.1: two agents, one budget of $100,000. Each agent alone may
 * spend. Together they cannot exceed the cap, with any proposals in any order (Corollary 1, Write
 * Skew Freedom).
 */

import { defineDomain, pass, reject } from 'assize/internal/kernel';
import { z } from 'zod';

const state = z.object({
  /** Total whole dollars that may be spent. */
  cap: z.number().int().nonnegative(),
  /** Whole dollars spent, by agent. */
  spent: z.record(z.string(), z.number().int().nonnegative()),
});

export type BudgetState = z.infer<typeof state>;

export const budget = defineDomain({
  name: 'budget',
  version: '1',
  state,
  initial: { cap: 100_000, spent: {} },
  processes: { spend: { writes: ['/spent/{agent}'] } },
  roles: { spender: { params: ['agent'], processes: ['spend'] } },
  actions: {
    spend: {
      process: 'spend',
      description: 'Spends whole dollars of the common budget.',
      args: z.object({ amount: z.number().int().positive() }),
      apply: (state, { amount }, { role }) => {
        state.spent[role.agent] = (state.spent[role.agent] ?? 0) + amount;
      },
    },
  },
  invariants: ({ invariant }) => [
    invariant('BUDGET_CAP', ['/cap', '/spent'], ({ cap, spent }) => {
      const total = Object.values(spent).reduce((sum, amount) => sum + amount, 0);
      return total <= cap ? pass : reject(`spent ${total} of ${cap}`);
    }),
  ],
});
