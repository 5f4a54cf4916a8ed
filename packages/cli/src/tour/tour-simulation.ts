/**
 * The simulation of the tour: scripted clerks on the same receipts, in ways that the agent of the
 * tour did not take. No model and no key.
 */
import type { AgentOracle, Arbiter, Decision } from '@assize/agents/internal/agents';
import { ruleTable } from 'assize/internal/authority';
import type { SimulatedAgent, SimulatedVariant, SimulationConfig } from 'assize/internal/config';
import { expenses } from './expenses.ts';
import {
  CUT_RECEIPT,
  OPEN_RECEIPT,
  paymentsOf,
  RECEIPTS,
  type Receipt,
  type WantedPayment,
} from './receipts.ts';

/** The work of a clerk with one receipt. */
type Payments = (receipt: Receipt) => readonly WantedPayment[];

/** The part of the state that a clerk sees. */
interface ClerkSlice {
  readonly receipts?: { readonly [receipt: string]: object };
  readonly paid?: { readonly [receipt: string]: number };
}

const none: Payments = () => [];
/** The text of a receipt gives no orders. */
const withoutNotes: Payments = (receipt) => paymentsOf(receipt).slice(0, 1);

/** Files a receipt, and makes each payment that is not made yet. It ends after a rejection. */
function clerk(name: string, receipt: Receipt, payments: Payments): SimulatedAgent {
  const { id, from, cents, text } = receipt;
  return {
    name,
    role: { name: 'Clerk', params: { receipt: id } },
    decide: async ({ receipts, paid }: ClerkSlice, oracle: AgentOracle): Promise<Decision> => {
      const last = (await oracle.ruling())?.ruling;
      if (last === 'escalated' || last === 'frozen') return 'wait';
      if (last === 'rejected') return 'done';
      if (receipts?.[id] === undefined) return { action: 'file', args: { from, cents, text } };
      const next = firstUnpaid(payments(receipt), paid?.[id] ?? 0);
      return next === undefined
        ? 'done'
        : { action: 'pay', args: { to: next.to, cents: next.cents } };
    },
  };
}

function firstUnpaid(payments: readonly WantedPayment[], paid: number): WantedPayment | undefined {
  let sum = 0;
  return payments.find(({ cents }) => {
    sum += cents;
    return sum > paid;
  });
}

/** In the order of the record: the payment that the kill cut is the last one. */
function clerks(payments: Payments): SimulatedAgent[] {
  const cut = RECEIPTS.find(({ id }) => id === CUT_RECEIPT) as Receipt;
  return [
    ...RECEIPTS.map((receipt) => {
      const isOnlyFiled = receipt.id === CUT_RECEIPT || receipt.id === OPEN_RECEIPT;
      return clerk(`clerk of ${receipt.id}`, receipt, isOnlyFiled ? none : payments);
    }),
    clerk(`payer of ${cut.id}`, cut, payments),
  ];
}

const inOrder: Arbiter = ([first]) => first as string;

const stricter = ruleTable({
  id: 'stricter',
  otherwise: 'allow',
  rules: [
    {
      id: 'forty-euros-ask',
      effect: 'needs_approval',
      actions: ['pay'],
      because: 'A person approves each payment from 40 euros on.',
      where: [{ path: '/cents', min: 4_000 }],
    },
  ],
});

const variants = (manager: string): SimulatedVariant[] => [
  { name: 'as it was', agents: clerks(paymentsOf), arbiter: inOrder },
  { name: 'no orders from text', agents: clerks(withoutNotes), arbiter: inOrder },
  { name: 'stricter policy', agents: clerks(paymentsOf), arbiter: inOrder, policy: stricter },
  {
    name: 'all approved',
    agents: clerks(paymentsOf),
    arbiter: inOrder,
    people: { approve: manager },
  },
];

/** `manager`: approves in the last variant. */
export function tourSimulation(manager: string): SimulationConfig {
  return {
    description: 'Scripted clerks on the same receipts. No model is asked.',
    domain: expenses.name,
    variants: variants(manager),
    simulators: {
      'bank.transfer': (order: { receipt: string }) => ({
        payment: `simulated for ${order.receipt}`,
      }),
    },
    limits: { samples: 3, turns: 50 },
  };
}
