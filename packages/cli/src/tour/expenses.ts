/**
 * The domain of the story's payments: an agent pays receipts through a bank. Rules judge each
 * payment before the bank receives it.
 */

import { declareTool, type Tool } from 'assize/internal/effects';
import { call, defineDomain, escalate, pass, reject } from 'assize/internal/kernel';
import { z } from 'zod';

const id = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/);
const cents = z.int().min(1).max(100_000_000);

const transfer = z.strictObject({ to: id, receipt: id, cents });

/** An order to the bank. */
export type Transfer = z.infer<typeof transfer>;

/** The bank as the tool reaches it. It ignores a repeated key. */
export interface PayingBank {
  /** Returns the bank's number of the payment. */
  pay(key: string, order: Transfer): Promise<string> | string;
  refund(key: string): Promise<void> | void;
}

/** The tool that pays. After a crash, the runtime calls it again with the same key. */
export function bankTransfer(bank: PayingBank): Tool<Transfer, Transfer> {
  return declareTool({
    name: 'bank.transfer',
    input: transfer,
    class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
    writes: ['bank:{to}'],
    execute: async (order, { key }) => ({ payment: await bank.pay(key, order) }),
    compensate: async (_order, _answer, { key }) => {
      await bank.refund(key);
      return { undone: 'all' };
    },
  });
}

/** Names the tool for the domain. The runtime calls the tool of its configuration. */
const DECLARED = bankTransfer({
  pay: () => Promise.reject(new Error('The declaration of the tool has no bank.')),
  refund: () => Promise.reject(new Error('The declaration of the tool has no bank.')),
});

/** A manager approves a larger payment, in cents. */
export const APPROVED_ABOVE = 50_000;

function euros(cents: number): string {
  return `€${(cents / 100).toFixed(2)}`;
}

export const expenses = defineDomain({
  name: 'demo-expenses',
  version: '1',
  state: z.object({
    /** The people who may be paid. Given when the world is created. */
    payees: z.record(id, z.object({ team: id })),
    receipts: z.record(id, z.object({ from: id, cents, text: z.string().min(1).max(2_000) })),
    /** Cents paid, by receipt. */
    paid: z.record(id, cents),
  }),
  initial: { payees: {}, receipts: {}, paid: {} },
  processes: {
    filing: { writes: ['/receipts/{receipt}'] },
    paying: { reads: ['/payees/*', '/receipts/{receipt}'], writes: ['/paid/{receipt}'] },
  },
  roles: { Clerk: { params: ['receipt'], processes: ['filing', 'paying'] } },
  actions: {
    file: {
      process: 'filing',
      args: z.object({ from: id, cents, text: z.string().min(1).max(2_000) }),
      present: {
        title: 'File a receipt of {from} for {cents}',
        fields: { cents: { label: 'Amount', money: 'EUR' } },
      },
      apply: (state, { from, cents, text }, { role: { receipt } }) => {
        if (state.receipts[receipt] !== undefined)
          throw new Error(`the receipt ${receipt} is filed already`);
        state.receipts[receipt] = { from, cents, text };
      },
    },
    pay: {
      process: 'paying',
      args: z.object({ to: id, cents }),
      present: {
        title: 'Pay {to} {cents}',
        fields: { cents: { label: 'Amount', money: 'EUR' }, to: { label: 'Payee' } },
        confirm: 'The bank pays {cents} to {to} immediately.',
      },
      apply: (state, { cents }, { role: { receipt } }) => {
        state.paid[receipt] = (state.paid[receipt] ?? 0) + cents;
      },
      calls: (_state, { to, cents }, { role: { receipt } }) => [
        call(DECLARED, { to, receipt, cents }),
      ],
    },
  },
  invariants: ({ eachCall }) => [
    eachCall(
      'PAYEE_IS_KNOWN',
      DECLARED,
      { reads: ['/payees/*'], with: ({ input }) => ({ payee: `/payees/${input.to}` }) },
      ({ input }, { payee }) => (payee === undefined ? reject(`${input.to} is not a payee`) : pass),
    ),
    eachCall(
      'RECEIPT_IS_PAID_ONCE',
      DECLARED,
      {
        reads: ['/receipts/*', '/paid/*'],
        with: ({ input }) => ({
          receipt: `/receipts/${input.receipt}`,
          paid: `/paid/${input.receipt}`,
        }),
      },
      ({ input }, { receipt, paid = 0 }) =>
        receipt !== undefined && receipt.from === input.to && paid <= receipt.cents
          ? pass
          : reject(`${euros(paid)} to ${input.to} is not due for the receipt ${input.receipt}`),
    ),
    eachCall('MANAGER_APPROVES', DECLARED, { channel: 'manager' }, ({ input }) =>
      input.cents <= APPROVED_ABOVE
        ? pass
        : escalate(`${euros(input.cents)} is over ${euros(APPROVED_ABOVE)}`),
    ),
  ],
  memory: {
    predicates: {
      account: {
        cardinality: 'single-valued',
        strategy: 'lww',
        description: 'the bank account of a payee',
      },
      trip: {
        cardinality: 'single-valued',
        strategy: 'lww',
        description: 'where a payee stays, and for how long',
      },
    },
  },
  counselors: { manager: (principal) => principal.startsWith('manager:') },
  // An open approval blocks its own receipt, and no other.
  freeze: 'footprint',
});
