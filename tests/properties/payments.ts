import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { expect } from 'vitest';
import { z } from 'zod';
import { declareTool } from '#effects';
import { call, defineDomain, escalate, pass, reject } from '#kernel';
import { deepReplay } from '#replay';
import type { Trajectory } from '#runtime';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';

/** Payments by a total in the state: a director decides above 10, and none is made above 16. */

const PEOPLE = ['ann', 'bob'] as const;

function payments() {
  const paid: string[] = [];
  const pay = declareTool({
    name: 'bank.pay',
    input: z.strictObject({ to: z.string(), total: z.int() }),
    class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
    writes: ['bank:{to}'],
    execute: ({ to, total }) => {
      paid.push(`${to} ${total}`);
      return null;
    },
    compensate: () => ({ undone: 'all' }),
  });
  const domain = defineDomain({
    name: 'payments',
    version: '1',
    state: z.object({ spent: z.record(z.string(), z.int()), by: z.record(z.string(), z.string()) }),
    initial: { spent: {}, by: {} },
    freeze: 'footprint',
    processes: { pay: { writes: ['/spent/{who}', '/by/{who}'] } },
    roles: { payer: { params: ['who'], processes: ['pay'] } },
    counselors: {
      manager: (principal) => principal === 'manager' || principal === 'director',
      director: (principal) => principal === 'director',
    },
    actions: {
      pay: {
        process: 'pay',
        channel: 'manager',
        args: z.strictObject({ cents: z.int() }),
        cost: ({ cents }) => ({ cents: Math.max(cents, 0) }),
        apply: ({ spent }, { cents }, { role: { who } }) => {
          if (cents === 0) throw new Error('nothing is paid');
          spent[who] = (spent[who] ?? 0) + cents;
        },
        calls: ({ spent }, { cents }, { role: { who } }) =>
          cents === 1 ? [] : [call(pay, { to: who, total: spent[who] as number })],
        onApprove: ({ by }, _args, { counselor, role: { who } }) => {
          by[who] = counselor;
        },
      },
    },
    invariants: ({ each, eachCall }) => [
      each('LIMIT', '/spent/*', {}, (cents) => (cents <= 16 ? pass : reject('too much'))),
      eachCall('DIRECTOR', pay, { channel: 'director' }, ({ input }) =>
        input.total <= 10 ? pass : escalate('a director decides'),
      ),
    ],
  });
  return { paid, pay, domain };
}

export interface Payment {
  readonly who: string;
  readonly cents: number;
}

export const payment: fc.Arbitrary<Payment> = fc.record({
  who: fc.constantFrom(...PEOPLE),
  cents: fc.integer({ min: -1, max: 14 }),
});
const budget = { cents: 30 };
export const [free, careful] = [
  writFor('free'),
  writFor('careful', { require_approval: ['**'], budget, trajectory: 't' }),
];

export function proposal({ who, cents }: Payment, writ = careful) {
  return { action: 'pay', role: { name: 'payer', params: { who } }, args: { cents }, writ };
}

/** A trajectory after these payments. */
export async function after(history: readonly Payment[], maxPending = 100) {
  const { paid, pay, domain } = payments();
  const store = new MemoryStore();
  const assize = runtimeOver(store, [domain], {
    tools: [pay],
    snapshots: store,
    approvals: { maxPending },
  });
  const trajectory = (await assize.create(domain, { trajectoryId: 't' })) as unknown as Trajectory;
  for (const one of history) await trajectory.propose(proposal(one, free));
  const close = async (): Promise<void> => {
    await assize.recoverEffects();
    await assize.close();
    expect((await deepReplay(store, 't', { domains: [domain as never] })).differences).toEqual([]);
  };
  return { paid, store, trajectory, close };
}
