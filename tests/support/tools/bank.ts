import { z } from 'zod';
import { declareTool } from '#effects';
import { call, defineDomain, escalate, pass, reject } from '#kernel';

/** Pays the given amounts, and counts. */
export class Bank {
  readonly paid: number[] = [];
  trouble: (() => unknown) | undefined;

  readonly pay = declareTool({
    name: 'bank.pay',
    input: z.strictObject({ to: z.string(), cents: z.int().positive() }),
    class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
    writes: ['bank:{to}'],
    execute: ({ cents }) => {
      if (this.trouble !== undefined) throw this.trouble();
      this.paid.push(cents);
      return { receipt: this.paid.length };
    },
    compensate: () => ({ undone: 'all' }),
  });

  readonly wire = declareTool({
    name: 'bank.wire',
    input: z.strictObject({ to: z.string(), cents: z.int().positive() }),
    class: { reversibility: 'irreversible', delivery: 'externalised', sink: 'keyed' },
    writes: ['bank:{to}'],
    execute: ({ cents }) => {
      this.paid.push(cents);
      return null;
    },
  });
}

export const LIMIT = 10_000;

/** Payments by actions that declare their calls. Rules over calls limit them and ask above 500. */
export function payments({ pay, wire }: Bank, unjudgedCalls: 'refuse' | 'allow' = 'refuse') {
  return defineDomain({
    name: 'payments',
    version: '1',
    state: z.object({
      spent: z.record(z.string(), z.int()),
      limits: z.record(z.string(), z.int()),
    }),
    initial: { spent: {}, limits: { bob: LIMIT } },
    processes: { pay: { reads: ['/limits/*'], writes: ['/spent/*'] } },
    roles: { clerk: { processes: ['pay'] } },
    counselors: { manager: (principal) => principal.startsWith('manager:') },
    actions: {
      pay: {
        process: 'pay',
        args: z.strictObject({ to: z.string(), cents: z.int() }),
        apply: (state, { to, cents }) => {
          state.spent[to] = (state.spent[to] ?? 0) + cents;
        },
        calls: (_state, { to, cents }) => [call(pay, { to, cents })],
      },
      rest: {
        process: 'pay',
        args: z.strictObject({ to: z.string() }),
        apply: (state, { to }) => {
          state.spent[to] = state.limits[to] ?? 0;
        },
        calls: (state, { to }, { at: _ }) => {
          const cents = (state.limits[to] ?? 0) - (state.spent[to] ?? 0) + 1;
          return cents > 0 ? [call(pay, { to, cents })] : [];
        },
      },
      wire: {
        process: 'pay',
        args: z.strictObject({ to: z.string(), cents: z.int() }),
        apply: (state, { to, cents }) => {
          state.spent[to] = (state.spent[to] ?? 0) + cents;
        },
        calls: (_state, { to, cents }) => [call(wire, { to, cents })],
      },
    },
    invariants: (rules) => [
      rules.eachCall(
        'WITHIN_LIMIT',
        pay,
        { reads: ['/limits/*'], with: ({ input }) => ({ limit: `/limits/${input.to}` }) },
        ({ input }, { limit }) =>
          input.cents <= (limit ?? 0) ? pass : reject(`${input.cents} is more than ${limit ?? 0}`),
      ),
      rules.eachCall('ASK_ABOVE_500', 'bank.pay', {}, ({ input }) =>
        input.cents <= 500 ? pass : escalate(`${input.cents} cents need a manager`),
      ),
    ],
    unjudgedCalls,
  });
}
