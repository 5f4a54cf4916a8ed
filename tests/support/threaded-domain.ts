// A domain for threads to import, which can tell in which thread its code runs.
import { isMainThread } from 'node:worker_threads';
import { z } from 'zod';
import { type Domain, defineDomain, pass, reject } from '#kernel';

const spec = (version: string, badly: (what: string) => void) =>
  defineDomain({
    name: 'threaded',
    version,
    state: z.object({ boxes: z.record(z.string(), z.number()), total: z.number() }),
    initial: { boxes: {}, total: 0 },
    processes: { filling: { writes: ['/boxes/{box}'] }, totalling: { reads: ['/boxes'], writes: ['/total'] } },
    roles: { filler: { params: ['box'], processes: ['filling'] }, clerk: { processes: ['totalling'] } },
    actions: {
      fill: {
        process: 'filling',
        args: z.object({ by: z.number(), badly: z.string().default('no') }),
        apply: (state, args, { role }) => {
          if (!isMainThread) badly(args.badly);
          const box = role['box'] as string;
          state.boxes[box] = (state.boxes[box] ?? 0) + args.by;
        },
      },
      total: {
        process: 'totalling',
        args: z.object({}),
        apply: (state) => {
          state.total = Object.values(state.boxes).reduce((sum, n) => sum + n, 0);
        },
      },
      where: {
        process: 'filling',
        args: z.object({}),
        // Against all rules, and only to be seen.
        apply: (state, _args, { role }) => {
          state.boxes[role['box'] as string] = isMainThread ? 1 : 2;
        },
      },
    },
    invariants: ({ each }) => [
      each('BELOW_TEN', '/boxes/*', {}, (n) => (n < 10 ? pass : reject(`${n} is not below ten`))),
    ],
  });

/** Where it is asked to, in a thread of its own, it dies or hangs. */
export const threaded: Domain = spec('1', (what) => {
  if (what === 'dies') process.exit(3);
  for (; what === 'hangs'; );
}) as Domain;

/** Of the same name, and another. */
export const other: Domain = spec('2', () => undefined) as Domain;
