import { z } from 'zod';
import { type Domain, defineDomain, escalate, pass } from '#kernel';
import type { PendingPayload } from '#ledger';
import type { Assize, Ruling } from '#runtime';
import { intent, writFor } from './runtime.ts';

/** Payments: each over 100 waits for a boss, who is not the one who asks. */
export const desk: Domain = defineDomain({
  name: 'desk',
  version: '1',
  state: z.object({
    payments: z.array(
      z.object({ amount: z.number(), memo: z.string(), by: z.string().optional() }),
    ),
  }),
  initial: { payments: [] },
  processes: { paying: { writes: ['/payments'] } },
  roles: { worker: { processes: ['paying'] } },
  actions: {
    pay: {
      process: 'paying',
      args: z.object({ amount: z.number(), memo: z.string() }),
      apply: (state: { payments: object[] }, args: object) => void state.payments.push(args),
    },
  },
  invariants: ({ each }: any) => [
    each(
      'LARGE',
      '/payments/*',
      {
        channel: 'boss',
        onApprove: (state: any, { counselor, keys: [i] }: any) => {
          state.payments[Number(i)].by = counselor;
        },
      },
      ({ amount, by, memo }: any) =>
        amount <= 100 || by !== undefined ? pass : escalate(`over 100: ${memo}`),
    ),
  ],
  counselors: { boss: (principal: string) => principal.startsWith('boss:') },
} as any) as Domain;

/** The desk with an owner who may decide for a boss after an hour. */
export const deputised: Domain = defineDomain({
  ...desk.declared,
  counselors: { ...desk.counselors, owner: (principal: string) => principal.startsWith('owner:') },
  deputies: { boss: { kind: 'owner', afterMs: 3_600_000 } },
} as any) as Domain;

export const clerk = writFor('clerk', { scopes: ['role:worker'] });

/** A payment in a trajectory of its own. */
export async function pay(
  assize: Assize,
  trajectoryId: string,
  amount: number,
  memo = 'rent',
  domain = desk,
): Promise<Ruling> {
  const trajectory = await assize.create(domain, { trajectoryId });
  return trajectory.propose(intent('pay', { amount, memo }, clerk));
}

/** The id of the proposal that waits, and its payload. */
export async function waiting(
  assize: Assize,
  trajectoryId: string,
): Promise<{ id: string; payload: PendingPayload }> {
  return (await assize.open(trajectoryId)).approvals.pending()[0]!;
}
