import { expect, test } from 'vitest';
import { amendmentCases } from '../../../../../tests/support/ledger/amendment-cases.ts';
import {
  linesOf,
  readable,
  verdictsOf,
} from '../../../../../tests/support/ledger/erasure-cases.ts';

const cases = amendmentCases();

test.each(cases)('$name: $verdict', async ({ ledger, verdict }) => {
  expect(await verdictsOf(ledger)).toEqual({ t: verdict });
});

test.each(cases.filter(({ verdict }) => verdict === 'valid'))(
  'an export is readable: $name',
  async ({ ledger }) => {
    expect(linesOf(ledger)).toContain('"amended"');
    expect(await readable(ledger)).toBe(true);
  },
);
