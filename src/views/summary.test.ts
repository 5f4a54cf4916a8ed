import { expect, test } from 'vitest';
import { settlementCases } from '../../tests/support/ledger/settlement-cases.ts';
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
