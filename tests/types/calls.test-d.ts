/**
 * Types of actions with calls, of rules over calls and of transaction bodies. `tsc --noEmit` checks
 * this file: a line under `@ts-expect-error` that compiles is an error.
 */
import { type Assize, call, defineDomain, eachCall, pass, type Trajectory, type Writ } from 'assize';
import { declareTool } from 'assize/effects';
import { z } from 'zod';

const pay = declareTool({
  name: 'bank.pay',
  input: z.strictObject({ to: z.string(), cents: z.number().default(1) }),
  class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
  writes: ['bank:{to}'],
  execute: () => null,
  compensate: () => ({ undone: 'all' }),
});

const payments = defineDomain({
  name: 'payments',
  version: '1',
  state: z.object({ spent: z.record(z.string(), z.number()) }),
  processes: { pay: { writes: ['/spent/*'] } },
  roles: { clerk: { processes: ['pay'] } },
  actions: {
    pay: {
      process: 'pay',
      args: z.strictObject({ to: z.string(), cents: z.number() }),
      apply: (state, { to, cents }) => {
        state.spent[to] = cents;
      },
      calls: (state, { to }) => [
        call(pay, { to, cents: state.spent[to] ?? 0 }),
        // A default need not be given.
        call(pay, { to }),
        // @ts-expect-error the input has no such member
        call(pay, { to, euros: 1 }),
        // @ts-expect-error an amount is a number
        call(pay, { to, cents: 'many' }),
      ],
    },
  },
  invariants: (rules) => [
    rules.eachCall('PARSED', pay, {}, ({ input }) => {
      const cents: number = input.cents;
      // @ts-expect-error the parsed input has no such member
      return input.euros === cents ? pass : pass;
    }),
    rules.eachCall(
      'WITH',
      pay,
      { reads: ['/spent/*'], with: ({ input }) => ({ spent: `/spent/${input.to}` }) },
      (_, { spent }) => {
        // @ts-expect-error the place may be missing
        const amount: number = spent;
        return amount > 0 ? pass : pass;
      },
    ),
    eachCall('NAMED', 'bank.*', {}, ({ input }) => (input.anything === 1 ? pass : pass)),
  ],
});

export async function body(trajectory: Trajectory<typeof payments>, writ: Writ, _assize: Assize): Promise<void> {
  await trajectory.transaction({ writ }, async (tx) => {
    await tx.call(pay, { to: 'bob', cents: 1 });
    // @ts-expect-error the input has no such member
    await tx.call(pay, { to: 'bob', euros: 1 });
    // Tools that are learnt at run time are called by name, untyped.
    await tx.call('bank.pay', { anything: 1 });
    tx.propose({ action: 'pay', role: 'clerk', args: { to: 'bob', cents: 1 } });
    // @ts-expect-error the domain has no such action
    tx.propose({ action: 'pray', role: 'clerk', args: { to: 'bob', cents: 1 } });
    // @ts-expect-error an amount is a number
    tx.propose({ action: 'pay', role: 'clerk', args: { to: 'bob', cents: '1' } });
  });
}
