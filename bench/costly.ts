/** The world of `parallel.ts`: members that have nothing to do with each other, and code that takes its time. */

import { z } from 'zod';
import { type Domain, defineDomain, pass, reject } from '#kernel';

/** How long code takes here: about a millisecond for a proposal, in its `apply` and its rule together. */
const STEPS = 90_000;

function work(seed: number, steps: number): number {
  let n = seed | 1;
  for (let i = 0; i < steps; i++) n = Math.imul(n ^ (n >>> 15), 0x2c1b3c6d) + i;
  return n >>> 8;
}

function domainOf(name: string, steps: number): Domain {
  return defineDomain({
    name,
    version: '1',
    state: z.object({ members: z.record(z.string(), z.object({ n: z.number().int(), of: z.number().int() })) }),
    processes: { working: { writes: ['/members/{member}'] } },
    roles: { worker: { params: ['member'], processes: ['working'] } },
    actions: {
      work: {
        process: 'working',
        args: z.object({ seed: z.number().int() }),
        apply: (state, { seed }, { role }) => {
          const member = state.members[role['member'] as string];
          if (member === undefined) throw new Error('no such member');
          member.of = work(seed, steps);
          member.n += 1;
        },
      },
    },
    invariants: ({ each }) => [
      each('LOOKED_AT', '/members/*', {}, ({ n, of }) =>
        work(of, steps) >= 0 && n >= 0 ? pass : reject('less than none'),
      ),
    ],
  }) as Domain;
}

export const costly: Domain = domainOf('bench-costly', STEPS);
/** The same that takes a tenth of it. */
export const middling: Domain = domainOf('bench-middling', STEPS / 10);
/** The same with next to nothing to do. */
export const cheap: Domain = domainOf('bench-cheap', 1);

export function membersState(size: number): unknown {
  return { members: Object.fromEntries(Array.from({ length: size }, (_, i) => [`m${i}`, { n: 0, of: 0 }])) };
}
