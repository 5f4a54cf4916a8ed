import { checkDomain } from '@assize/testing/internal';
import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { intent, runtimeOver, writFor } from '../../../../tests/support/ledger/runtime.ts';
import { Bank, type BankLine } from './bank.ts';
import { APPROVED_ABOVE, bankTransfer, expenses } from './expenses.ts';

const initial = {
  payees: { ada: { team: 'sales' } },
  receipts: { r1: { from: 'ada', cents: 60_000, text: 'A desk.' } },
  paid: {},
};
const writ = writFor('agent:clerk');

/** A world with one receipt, and its bank. */
async function begun() {
  const lines: BankLine[] = [];
  const tools = [bankTransfer(new Bank((line) => lines.push(line)))];
  const assize = runtimeOver(new MemoryStore(), [expenses], { tools });
  const trajectory = await assize.create(expenses, { initial, writs: [writ] });
  const pay = (receipt: string, cents: number, to = 'ada') =>
    trajectory.propose({
      ...intent('pay', { to, cents }, writ),
      role: { name: 'Clerk', params: { receipt } },
    });
  const paid = () => lines.flatMap((line) => (line.does === 'pays' ? [line.cents] : []));
  return { assize, lines, paid, trajectory, pay };
}

test('a payee who is not listed is not paid, nor a receipt that is not filed', async () => {
  const { assize, lines, pay } = await begun();
  const refused = { ruling: 'rejected', invariantId: 'PAYEE_IS_KNOWN' };
  expect(await pay('r1', 100, 'eve')).toMatchObject(refused);
  expect(await pay('r1', 100, 'constructor')).toMatchObject(refused);
  expect(await pay('r2', 100)).toMatchObject({ invariantId: 'RECEIPT_IS_PAID_ONCE' });
  expect(lines).toEqual([]);
  await assize.close();
});

test('the payments of a receipt are together at most its amount', async () => {
  const { assize, paid, pay } = await begun();
  expect(await pay('r1', 40_000)).toMatchObject({ ruling: 'committed' });
  expect(await pay('r1', 20_001)).toMatchObject({
    ...{ ruling: 'rejected', invariantId: 'RECEIPT_IS_PAID_ONCE' },
  });
  expect(await pay('r1', 20_000)).toMatchObject({ ruling: 'committed' });
  expect(paid()).toEqual([40_000, 20_000]);
  await assize.close();
});

test('a larger payment waits for a manager, and for no other principal', async () => {
  const { assize, paid, trajectory, pay } = await begun();
  const asked = await pay('r1', APPROVED_ABOVE + 1);
  if (asked.ruling !== 'escalated') throw new Error(asked.ruling);
  const by = (principal: string) =>
    trajectory.approvals.approve(asked.pending, { principal, method: 'test' });
  await expect(by('agent:clerk')).rejects.toMatchObject({ code: 'unauthorised_counselor' });
  expect(paid()).toEqual([]);
  expect(await by('manager:grace')).toMatchObject({ ruling: 'committed' });
  await assize.close();
  expect(paid()).toEqual([APPROVED_ABOVE + 1]);
});

test('the bank pays once for a key, refunds, and goes on from its log', () => {
  const lines: BankLine[] = [];
  const log = (line: BankLine): void => void lines.push(line);
  const order = { to: 'ada', receipt: 'r1', cents: 5 };
  const bank = new Bank(log);
  expect([bank.pay('k', order), bank.pay('k', order), bank.pay('l', order)]).toEqual([
    ...['B-1', 'B-1', 'B-2'],
  ]);
  bank.refund('k');
  const later = new Bank(log, lines.slice());
  expect([later.pay('l', order), later.pay('k', order)]).toEqual(['B-2', 'B-3']);
  expect(lines.map(({ key, does }) => `${key} ${does}`)).toEqual([
    ...['k pays', 'k repeats', 'l pays', 'k refunds', 'l repeats', 'k pays'],
  ]);
});

test('the domain passes its check; its clerk sees more than it uses', () => {
  const report = checkDomain(expenses, {
    runs: 150,
    states: [initial],
    args: {
      pay: fc.record({
        to: fc.constantFrom('ada', 'eve'),
        cents: fc.integer({ min: 1, max: 70_000 }),
      }),
    },
    roles: { Clerk: [{ receipt: 'r1' }, { receipt: 'r2' }] },
    counselors: { manager: 'manager:grace' },
  });
  expect(report.ok, report.formatReport()).toBe(true);
  expect(report.problems.map(({ kind, where }) => `${kind} ${where}`)).toEqual([
    ...['unused process paying /payees/*', 'unused process paying /receipts/{receipt}'],
  ]);
  expect(report.proposals.committed).toBeGreaterThan(0);
});
