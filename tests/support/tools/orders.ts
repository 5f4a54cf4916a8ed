import { z } from 'zod';
import { defineDomain, escalate, type FailureIntent, pass, reject } from '#kernel';

/**
 * The action on failed effects of an order, by its name. For any other name, the failure is
 * counted.
 */
const FAILURES: Readonly<Record<string, (name: string) => FailureIntent>> = {
  bad: () => ({ action: 'count', args: 'forbidden' }),
  asks: () => ({ action: 'count', args: 'asked' }),
  elsewhere: () => ({
    action: 'refund',
    args: { of: 'elsewhere' },
    role: { name: 'clerk', params: { desk: 'd1' } },
  }),
  unknown: () => ({ action: 'conjure', args: {} }),
  odd: () => undefined as never,
  throws: () => {
    throw new Error('it has no idea');
  },
};

const counted = (name: string): FailureIntent => ({ action: 'count', args: `no ${name}` });

/** Counts what was committed, and says what is done where the effects of an order fail. */
export const orders = defineDomain<any, any>({
  name: 'orders',
  version: '1',
  unjudgedCalls: 'allow',
  state: z.object({ done: z.record(z.string(), z.number()) }),
  initial: { done: {} },
  processes: { count: { writes: ['/done/*'] }, desk: { writes: ['/done/{desk}'] } },
  roles: { counter: { processes: ['count'] }, clerk: { params: ['desk'], processes: ['desk'] } },
  actions: {
    order: {
      process: 'count',
      args: z.string(),
      apply: ({ done }: any, name: string) => {
        done[name] = (done[name] ?? 0) + 1;
      },
      onFailure: (name: string) => (FAILURES[name] ?? counted)(name),
    },
    count: {
      process: 'count',
      args: z.string(),
      apply: ({ done }: any, name: string) => {
        done[name] = (done[name] ?? 0) + 1;
      },
    },
    refund: {
      process: 'desk',
      args: z.object({ of: z.string() }),
      apply: ({ done }: any, _: unknown, { role }: any) => {
        done[role.desk] = 1;
      },
    },
  } as never,
  invariants: ({ invariant }: any) => [
    // A forbidden order passes with a pardon.
    invariant('NOT_FORBIDDEN', ['/done'], ({ done }: any) =>
      done.forbidden === undefined || done.pardon !== undefined ? pass : reject('it is forbidden'),
    ),
    invariant('ASKED', ['/done/asked'], ({ done }: any) =>
      done.asked === undefined ? pass : escalate('shall it be?'),
    ),
  ],
  counselors: { boss: (principal: string) => principal === 'boss' },
});
