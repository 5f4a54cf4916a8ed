import { expect, test } from 'vitest';
import { settlementCases } from '../../../../tests/support/ledger/settlement-cases.ts';
import { argsText, proposedIn } from './proposed-args.ts';
import { summaryOf } from './summary.ts';

test('compensated effects are distinguished from effects that never happened', async () => {
  const orders = settlementCases.find(({ name }) => name === 'of orders that failed');
  const rows = await (await orders!.make()).entries('t');
  const told = rows.map((row) => summaryOf(row)).filter(({ action }) => action === 'assize.settle');
  const settled = told.filter(({ ruling }) => ruling === 'committed').map(({ detail }) => detail);
  expect(settled.filter((detail) => detail?.includes('effects'))).toEqual([
    'undone 2 effects, 1 effect never happened',
    'undone 2 effects',
  ]);
});

test('arguments are cut between characters; values stored apart are not shown', () => {
  const commit = (args: unknown) => {
    const payload = {
      kind: 'commit',
      action: { name: 'pay', role: { name: 'Clerk', params: {} }, args },
    };
    const asked = proposedIn(payload as never);
    return asked && argsText(asked.args);
  };
  expect(commit({ cents: 5, to: 'ada' })).toBe('{"cents":5,"to":"ada"}');
  expect(commit({ t: `a${'😀'.repeat(60)}` })).toBe(`{"t":"a${'😀'.repeat(36)}…`);
  expect(commit({ $blob: 'a'.repeat(64), bytes: 3 })).toBeUndefined();
});
