/**
 * The second act of the demo: the covered claims of the story are paid through a tool. All output
 * except the heading comes from the rulings, the ledger and the bank.
 */

import { isDeepStrictEqual } from 'node:util';
import { bold, green, red } from '@assize/command';
import type { Writ } from 'assize/internal/authority';
import type { Json } from 'assize/internal/base';
import { addMicros, canonicalize } from 'assize/internal/canon';
import { type EntryRow, type LedgerStore, readRow } from 'assize/internal/ledger';
import type { Assize, EffectOutcome, Ruling, Trajectory } from 'assize/internal/runtime';
import { counted, toolCalls } from 'assize/internal/views';
import { type Bank, demoPayments, type Order } from './demo-payments.ts';
import { COMMITTED, type DemoStep, nineOClock, short, stepOf, tellStep } from './demo-steps.ts';

type JsonObject = Readonly<Record<string, Json>>;

/** A call that an entry records. */
interface RecordedCall {
  /** The idempotency key that the tool receives. */
  readonly id: string;
  readonly tool: string;
  readonly input: Json;
}

/** A call of a step. Until its commit it has neither phase nor answer. */
export type StepCall = RecordedCall & Partial<Pick<EffectOutcome, 'phase' | 'answer'>>;

export interface PaymentStep extends DemoStep {
  /** The seq of the earlier ruling that a repeated request gets. */
  readonly repeats?: number;
  /** The calls of the commit, or those that wait for the approval. */
  readonly calls: readonly StepCall[];
  /** The requests that the bank received in this step, and its payments after the step. */
  readonly bank: { readonly requests: number; readonly payments: number };
}

/** The payments of the bank, and the calls that the ledger records. */
export interface PaymentTotals {
  readonly bank: { readonly requests: number; readonly payments: number; readonly cents: number };
  readonly ledger: { readonly calls: number; readonly cents: number };
  /** Whether the payments are the recorded calls, and the bank got one request for each. */
  readonly equal: boolean;
}

/** The runtime, the bank and the clock of the act. */
export interface PaymentStage {
  readonly assize: Assize;
  readonly store: LedgerStore;
  readonly bank: Bank;
  readonly clock: { at: string };
  issue(terms: Pick<Writ, 'subject' | 'actions' | 'scopes' | 'nonce'>): Writ;
}

export interface PaymentCast extends PaymentStage {
  readonly trajectory: Trajectory;
  readonly writ: Writ;
}

export const PAYER = { principal: 'agent:payer', role: 'Payer' };
/** Marks a trajectory as the second act of the demo. */
export const PAYMENTS_NOTE = 'seed 000 payments';
const MANAGER = 'manager:reyes';
const DAY = '2026-03-31';

/** Creates the trajectory of the payments, with the claims that may be paid. */
export async function beginPayments(
  stage: PaymentStage,
  trajectoryId: string,
  claims: Readonly<Record<string, { readonly test: string }>>,
): Promise<PaymentCast> {
  const { assize, clock, issue } = stage;
  clock.at = nineOClock(DAY);
  const { principal: subject, role } = PAYER;
  const scopes = [`role:${role}`, 'bank:lab'];
  const writ = issue({ subject, actions: ['pay_claim', 'bank.pay'], scopes, nonce: role });
  const covered = Object.fromEntries(
    Object.entries(claims).map(([claim, { test }]) => [claim, { test }]),
  );
  const beginning = {
    trajectoryId,
    initial: { covered, paid: {} },
    writs: [writ],
    note: PAYMENTS_NOTE,
  };
  return { ...stage, trajectory: await assize.create(demoPayments, beginning), writ };
}

// ── what happens ──

interface Payment {
  readonly claim: string;
  readonly cents: number;
  /** The idempotency key of the request. */
  readonly key: string;
  /** The ruling, or the deciding invariant. */
  readonly becomes: string;
  /** The number of requests that the bank gets. */
  readonly requests: number;
}

const FIRST: Payment = {
  claim: 'c1',
  cents: 11_443,
  key: 'pay c1',
  becomes: COMMITTED,
  requests: 1,
};

const STEPS: readonly (Payment | 'approval')[] = [
  FIRST,
  { ...FIRST, requests: 0 },
  { claim: 'c2', cents: 246_920, key: 'pay c2', becomes: 'CLAIM_LIMIT', requests: 0 },
  {
    claim: 'c2',
    cents: 24_692,
    key: 'pay c2, corrected',
    becomes: 'MANAGER_APPROVES',
    requests: 0,
  },
  'approval',
];

export async function payClaims(
  cast: PaymentCast,
  tell: (line: string) => void,
): Promise<PaymentStep[]> {
  const { trajectory, clock } = cast;
  tellBeginning(tell, trajectory);
  const steps: PaymentStep[] = [];
  for (const next of STEPS) {
    clock.at = addMicros(clock.at, 60_000_000);
    const step = next === 'approval' ? await approve(cast) : await pay(cast, next, steps);
    steps.push(step);
    tellPayment(tell, step);
  }
  return steps;
}

async function pay(
  cast: PaymentCast,
  payment: Payment,
  before: readonly PaymentStep[],
): Promise<PaymentStep> {
  const { claim, cents, key, becomes, requests } = payment;
  const args = { claim, cents };
  const asked = {
    action: 'pay_claim',
    role: PAYER.role,
    args,
    writ: cast.writ,
    idempotencyKey: key,
  };
  const step = await observed(cast, becomes, requests, () => cast.trajectory.propose(asked));
  const earlier = before.find(({ entry_id }) => entry_id === step.entry_id);
  return { ...step, ...PAYER, action: 'pay_claim', args, ...(earlier && { repeats: earlier.seq }) };
}

/** The manager sees the pending proposal with its calls, and approves exactly that proposal. */
async function approve(cast: PaymentCast): Promise<PaymentStep> {
  const { approvals } = cast.trajectory;
  const [pending] = approvals.pending();
  if (pending === undefined)
    throw new Error('The story has an approval, but no payment is pending.');
  const { digest, seq, channel } = pending.payload;
  const approval = { principal: MANAGER, method: 'demo', digest };
  const step = await observed(cast, COMMITTED, 1, () => approvals.approve(pending.id, approval));
  return {
    ...step,
    principal: MANAGER,
    role: channel,
    action: 'approve',
    args: { digest },
    resolves: seq,
  };
}

/** A ruling, with its calls and with the requests that the bank got meanwhile. */
async function observed(
  cast: PaymentCast,
  becomes: string,
  requests: number,
  rule: () => Promise<Ruling>,
) {
  const { bank, clock } = cast;
  const before = bank.requests;
  const ruling = await rule();
  const step = stepOf(ruling, becomes, clock.at);
  const calls = await callsOf(cast, ruling);
  const got = bank.requests - before;
  const isAsTold = step.as_told && got === requests;
  return {
    ...step,
    calls,
    bank: { requests: got, payments: bank.payments.length },
    as_told: isAsTold,
  };
}

/** Calls of a commit are made, and their outcomes are in the ledger, when this returns. */
async function callsOf({ assize, store }: PaymentCast, ruling: Ruling): Promise<StepCall[]> {
  if (ruling.ruling === 'frozen') return [];
  const outcomes = ruling.ruling === 'committed' ? await assize.awaitEffects(ruling.entry.id) : [];
  const calls = await recordedCalls(store, ruling.entry);
  return calls.map((call) => {
    const { phase, answer } = outcomes.find(({ id }) => id === call.id) ?? {};
    return { ...call, ...(phase && { phase }), ...(answer !== undefined && { answer }) };
  });
}

/** The calls of a commit or of a pending proposal. */
async function recordedCalls(store: LedgerStore, row: EntryRow): Promise<RecordedCall[]> {
  const { payload } = readRow(row);
  const delta =
    payload.kind === 'pending_approval'
      ? payload.proposal.delta
      : 'delta' in payload && payload.delta;
  if (!delta) return [];
  const calls = await toolCalls(store, delta);
  return calls.flatMap((call) =>
    'input' in call ? [{ id: call.id, tool: call.tool, input: call.input }] : [],
  );
}

// ── the bank and the ledger ──

/** Compares the payments of the bank with the calls that the commits of the trajectory record. */
export async function comparePayments({
  store,
  bank,
  trajectory,
}: PaymentCast): Promise<PaymentTotals> {
  const commits = (await store.entries(trajectory.id)).filter(({ kind }) => kind === 'commit');
  const calls = (await Promise.all(commits.map((row) => recordedCalls(store, row)))).flat();
  const recorded = calls.map(({ id, input }) => ({ ...(input as unknown as Order), key: id }));
  const paid = bank.payments.map(({ receipt: _, ...payment }) => payment);
  return {
    bank: { requests: bank.requests, payments: paid.length, cents: sumOf(paid) },
    ledger: { calls: recorded.length, cents: sumOf(recorded) },
    equal: bank.requests === paid.length && isDeepStrictEqual(sorted(recorded), sorted(paid)),
  };
}

function sumOf(payments: readonly Order[]): number {
  return payments.reduce((sum, { cents }) => sum + cents, 0);
}

function sorted(payments: readonly (Order & { readonly key: string })[]): string[] {
  return payments.map((each) => canonicalize({ ...each })).sort();
}

// ── how it is told ──

function tellBeginning(tell: (line: string) => void, trajectory: Trajectory): void {
  const { covered } = trajectory.state() as {
    readonly covered: Readonly<Record<string, { readonly test: string }>>;
  };
  const claims = Object.entries(covered).map(([claim, { test }]) => `${claim} for ${test}`);
  tell('');
  tell(
    bold(
      `${DAY}  The covered claims are paid by a tool. Rules judge each call before the bank gets it.`,
    ).text,
  );
  tell(`Trajectory ${trajectory.id}, covered: ${claims.join(', ')}.`);
}

function tellPayment(tell: (line: string) => void, step: PaymentStep): void {
  tellStep(tell, step);
  const { repeats, calls, bank } = step;
  const told =
    repeats === undefined ? calls.map(callText) : [`The same request: the ruling of #${repeats}.`];
  const got = bank.requests === 0 ? 'no request' : counted(bank.requests, 'request');
  tell(`     ${[...told, `The bank got ${got}.`].join(' ')}`);
}

function callText({ tool, input, phase, answer }: StepCall): string {
  const answered = answer === undefined ? '' : `, ${short(answer as JsonObject)}`;
  return `${tool} ${short(input as JsonObject)}: ${phase ?? 'waits'}${answered}.`;
}

export function tellTotals(
  tell: (line: string) => void,
  { bank, ledger, equal }: PaymentTotals,
): void {
  const made = `The bank made ${counted(bank.payments, 'payment')}, ${bank.cents} cents in all.`;
  const recorded = `The ledger records ${counted(ledger.calls, 'call')}, ${ledger.cents} cents in all`;
  tell(
    `${made} ${recorded}: ${equal ? green('the same, each made once').text : red('they differ').text}.`,
  );
}
