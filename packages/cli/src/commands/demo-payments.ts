/**
 * The domain of the demo's second act: covered claims are paid through a tool. The action declares
 * its calls, and rules judge each call before the bank receives it.
 */

import { declareTool, type Tool } from 'assize/internal/effects';
import { call, defineDomain, escalate, pass, reject } from 'assize/internal/kernel';
import { z } from 'zod';

const id = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/);
const cents = z.int().min(1).max(100_000_000);

const order = z.strictObject({ to: id, claim: id, cents });

/** A request to the bank. */
export type Order = z.infer<typeof order>;

/** A payment that the bank has made. */
export interface Payment extends Order {
  readonly key: string;
  readonly receipt: string;
}

/** A bank in memory. It pays once for each key, and a repeated key gets the first receipt. */
export class Bank {
  readonly #payments: Map<string, Payment> = new Map();
  #requests = 0;

  pay(key: string, asked: Order): string {
    this.#requests += 1;
    const { receipt } = this.#payments.get(key) ?? this.#make(key, asked);
    return receipt;
  }

  refund(key: string): void {
    this.#payments.delete(key);
  }

  /** Starts over, without payments and requests. */
  forget(): void {
    this.#payments.clear();
    this.#requests = 0;
  }

  /** The number of received requests, repeated keys included. */
  get requests(): number {
    return this.#requests;
  }

  get payments(): readonly Payment[] {
    return [...this.#payments.values()];
  }

  #make(key: string, asked: Order): Payment {
    const made = { ...asked, key, receipt: `R-${this.#payments.size + 1}` };
    this.#payments.set(key, made);
    return made;
  }
}

/** The tool that pays at a bank. The bank ignores a repeated key, and can refund a payment. */
export function bankPay(bank: Bank): Tool<Order, Order> {
  return declareTool({
    name: 'bank.pay',
    input: order,
    class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
    writes: ['bank:{to}'],
    execute: (asked, { key }) => ({ receipt: bank.pay(key, asked) }),
    compensate: (_asked, _answer, { key }) => {
      bank.refund(key);
      return { undone: 'all' };
    },
  });
}

/** Names the tool for the domain. Each run of the demo has a bank of its own. */
const DECLARED = bankPay(new Bank());
/** The limit of all payments for one claim, in cents. */
const CLAIM_LIMIT = 30_000;
/** A manager approves a larger payment, in cents. */
const APPROVED_ABOVE = 20_000;

export const demoPayments = defineDomain({
  name: 'demo-payments',
  version: '1',
  state: z.object({
    /** The covered claims, each with its test. Given when the trajectory is created. */
    covered: z.record(id, z.object({ test: id })),
    /** Cents paid, by claim. */
    paid: z.record(id, cents),
  }),
  initial: { covered: {}, paid: {} },
  processes: { paying: { writes: ['/paid/*'] } },
  roles: { Payer: { processes: ['paying'] } },
  actions: {
    pay_claim: {
      process: 'paying',
      args: z.object({ claim: id, cents }),
      apply: (state, { claim, cents }) => {
        state.paid[claim] = (state.paid[claim] ?? 0) + cents;
      },
      calls: (_state, { claim, cents }) => [call(DECLARED, { to: 'lab', claim, cents })],
    },
  },
  invariants: ({ eachCall }) => [
    eachCall(
      'CLAIM_COVERED',
      DECLARED,
      { reads: ['/covered/*'], with: ({ input }) => ({ covered: `/covered/${input.claim}` }) },
      ({ input }, { covered }) =>
        covered === undefined ? reject(`${input.claim} is not a covered claim`) : pass,
    ),
    eachCall(
      'CLAIM_LIMIT',
      DECLARED,
      { reads: ['/paid/*'], with: ({ input }) => ({ paid: `/paid/${input.claim}` }) },
      ({ input }, { paid = 0 }) =>
        paid <= CLAIM_LIMIT
          ? pass
          : reject(`${input.claim}: ${paid} cents in all; the limit is ${CLAIM_LIMIT}`),
    ),
    eachCall('MANAGER_APPROVES', DECLARED, { channel: 'manager' }, ({ input }) =>
      input.cents <= APPROVED_ABOVE
        ? pass
        : escalate(`${input.cents} cents are more than ${APPROVED_ABOVE}`),
    ),
  ],
  counselors: { manager: (principal) => principal.startsWith('manager:') },
});
