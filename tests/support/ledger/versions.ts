import { z } from 'zod';
import {
  type Domain,
  defineDomain,
  escalate,
  type Invariant,
  invariant,
  pass,
  reject,
} from '#kernel';

// Versions of one domain: a counter, and an amount that a doctor must approve.

export const atMost = (most: number): Invariant<any> =>
  invariant(
    'AT_MOST',
    ['/n'],
    ({ n }: any) => (n <= most ? pass : reject(`${n} is more than ${most}`)),
    {
      overridable: true,
    },
  );
export const asked = invariant(
  'ASKED',
  ['/asked', '/by'],
  ({ asked, by }: any) => (asked === 0 || by !== '' ? pass : escalate(`${asked} is asked for`)),
  {
    channel: 'md',
    onApprove: (state: any, { counselor }: any) => {
      state.by = counselor;
    },
  },
);

export interface Version {
  readonly version: string;
  readonly invariants?: readonly Invariant<any>[];
  readonly state?: object;
  readonly ask?: (state: any, args: any) => void;
  readonly name?: string;
}

export function counter({
  version,
  invariants = [atMost(10), asked],
  state = {},
  ask,
  name = 'counter',
}: Version): Domain {
  return defineDomain<any, any>({
    name,
    version,
    state: z.object({ n: z.number(), asked: z.number(), by: z.string(), ...state }),
    ...(version === '1' ? { initial: { n: 0, asked: 0, by: '' } } : {}),
    counselors: { md: (principal: string) => principal.startsWith('dr-') },
    freeze: 'world',
    processes: { count: { writes: ['/n'] }, asking: { writes: ['/asked'] } },
    roles: { clerk: { processes: ['count', 'asking'] } },
    actions: {
      set: {
        process: 'count',
        args: z.object({ n: z.number() }),
        apply: (s: any, { n }: any) => {
          s.n = n;
        },
      },
      spend: {
        process: 'count',
        args: z.object({ usd: z.number() }),
        cost: ({ usd }: any) => ({ usd }),
        apply: () => {},
      },
      ask: {
        process: 'asking',
        args: z.object({ amount: z.number() }),
        apply:
          ask ??
          ((s: any, { amount }: any) => {
            s.asked = amount;
          }),
      },
    },
    invariants: invariants as never,
  }) as Domain;
}
