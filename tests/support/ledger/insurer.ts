import { z } from 'zod';
import { defineDomain, escalate, pass, reject } from '#kernel';

type Freeze = 'world' | 'footprint' | 'reserve';

/**
 * An insurer. A claim over 10,000 needs a manager. All claims together stay within the budget, and
 * no two open claims have the same invoice.
 */
export function insurerOf(
  freeze: Freeze | undefined = 'reserve',
  options: { readonly approvals?: number } = {},
) {
  return defineDomain({
    name: 'claims',
    version: '1',
    ...(freeze === undefined ? {} : { freeze }),
    state: z.object({
      budget: z.int(),
      rate: z.int(),
      claims: z.record(
        z.string(),
        z.object({
          cents: z.int(),
          invoice: z.string().optional(),
          note: z.string().optional(),
          by: z.string().optional(),
        }),
      ),
    }),
    initial: { budget: 50_000, rate: 1, claims: {} },
    processes: {
      claim: { reads: ['/rate'], writes: ['/claims/*'] },
      office: { writes: ['/budget', '/rate'] },
    },
    roles: { agent: { processes: ['claim', 'office'] } },
    actions: {
      claim: {
        process: 'claim',
        args: z.object({ id: z.string(), cents: z.int(), invoice: z.string().optional() }),
        apply: (state, { id, cents, invoice }) => {
          const rated = cents * state.rate;
          state.claims[id] = invoice === undefined ? { cents: rated } : { cents: rated, invoice };
        },
      },
      note: {
        process: 'claim',
        args: z.object({ id: z.string(), note: z.string() }),
        apply: (state, { id, note }) => {
          const claim = state.claims[id];
          if (claim === undefined) throw new Error(`there is no claim ${id}`);
          claim.note = note;
        },
      },
      plan: {
        process: 'office',
        args: z.object({ budget: z.int().optional(), rate: z.int().optional() }),
        apply: (state, { budget, rate }) => {
          if (budget !== undefined) state.budget = budget;
          if (rate !== undefined) state.rate = rate;
        },
      },
    },
    invariants: ({ each, sum, unique }) => [
      sum(
        'BUDGET',
        '/claims/*',
        {
          overridable: true,
          of: ({ cents }) => cents,
          reads: ['/budget'],
          with: () => ({ budget: '/budget' }),
        },
        (total, { budget }) =>
          total <= (budget as number) ? pass : reject(`${total} of ${budget}`),
      ),
      unique('ONE_INVOICE', '/claims/*', { by: ({ invoice }) => invoice }),
      each(
        'MANAGER',
        '/claims/*',
        {
          channel: 'manager',
          ...(options.approvals === undefined ? {} : { approvals: options.approvals }),
          onApprove: (state, { counselor, keys: [id = ''] }) => {
            (state.claims[id] as { by?: string }).by = counselor;
          },
        },
        ({ cents, by }) =>
          cents <= 10_000 || by !== undefined ? pass : escalate(`${cents} is over 10,000`),
      ),
    ],
    counselors: { manager: (principal) => principal.startsWith('manager:') },
  });
}
