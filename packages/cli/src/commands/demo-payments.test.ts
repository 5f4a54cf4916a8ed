import { checkDomain } from '@assize/testing/internal';
import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { intent, runtimeOver, writFor } from '../../../../tests/support/ledger/runtime.ts';
import { Bank, bankPay, demoPayments } from './demo-payments.ts';

const covered = { c1: { test: 'd1' } };
const writ = writFor('agent:payer');

/** A trajectory with one covered claim, and its bank. */
async function begun() {
  const bank = new Bank();
  const assize = runtimeOver(new MemoryStore(), [demoPayments], { tools: [bankPay(bank)] });
  const trajectory = await assize.create(demoPayments, {
    initial: { covered, paid: {} },
    writs: [writ],
  });
  const pay = (claim: string, cents: number) =>
    trajectory.propose({ ...intent('pay_claim', { claim, cents }, writ), role: 'Payer' });
  return { assize, bank, trajectory, pay };
}

test('a claim that is not covered is not paid', async () => {
  const { assize, bank, pay } = await begun();
  expect(await pay('c2', 100)).toMatchObject({ ruling: 'rejected', invariantId: 'CLAIM_COVERED' });
  expect(await pay('constructor', 100)).toMatchObject({
    ruling: 'rejected',
    invariantId: 'CLAIM_COVERED',
  });
  expect(bank.requests).toBe(0);
  await assize.close();
});

test('the limit is for all payments of a claim together', async () => {
  const { assize, bank, pay } = await begun();
  expect(await pay('c1', 20_000)).toMatchObject({ ruling: 'committed' });
  expect(await pay('c1', 10_001)).toMatchObject({ ruling: 'rejected', invariantId: 'CLAIM_LIMIT' });
  expect(await pay('c1', 10_000)).toMatchObject({ ruling: 'committed' });
  expect(bank.payments.map(({ cents }) => cents)).toEqual([20_000, 10_000]);
  await assize.close();
});

test('more than 20000 cents wait for a manager, and for no other principal', async () => {
  const { assize, bank, trajectory, pay } = await begun();
  const asked = await pay('c1', 20_001);
  if (asked.ruling !== 'escalated') throw new Error(asked.ruling);
  const by = (principal: string) =>
    trajectory.approvals.approve(asked.pending, { principal, method: 'test' });
  await expect(by('agent:payer')).rejects.toMatchObject({ code: 'unauthorised_counselor' });
  expect(bank.requests).toBe(0);
  expect(await by('manager:reyes')).toMatchObject({ ruling: 'committed' });
  await assize.close();
  expect(bank.payments).toMatchObject([{ cents: 20_001, claim: 'c1', receipt: 'R-1' }]);
});

test('the bank pays once for a key, and refunds', () => {
  const bank = new Bank();
  const order = { to: 'lab', claim: 'c1', cents: 5 };
  expect([bank.pay('k', order), bank.pay('k', order), bank.pay('l', order)]).toEqual([
    'R-1',
    'R-1',
    'R-2',
  ]);
  expect([bank.requests, bank.payments.length]).toEqual([3, 2]);
  bank.refund('k');
  expect(bank.payments.map(({ key }) => key)).toEqual(['l']);
});

test('the domain passes its check without a warning', () => {
  const payments = fc.record({
    claim: fc.constantFrom('c1', 'c2'),
    cents: fc.integer({ min: 1, max: 40_000 }),
  });
  const report = checkDomain(demoPayments, {
    runs: 150,
    states: [{ covered, paid: {} }],
    args: { pay_claim: payments },
    counselors: { manager: 'manager:reyes' },
  });
  expect(report.ok, report.formatReport()).toBe(true);
  expect(report.problems).toEqual([]);
  expect(report.proposals.committed).toBeGreaterThan(0);
});
